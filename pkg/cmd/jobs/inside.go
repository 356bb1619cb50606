package jobs

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// hostFlags choose one host of a job, or the pod of an input of a map.
type hostFlags struct{ host, index int }

func (f *hostFlags) addTo(c *command, own cli.Section) {
	cli.NumberVar(own.Flags, &f.host, 0, cli.Unbounded, "host", "Number of the `HOST`, from 0.")
	own.Completions["host"] = c.choice.CompleteHostNumbers
	indexVar(own.Flags, &f.index)
	own.Flags.Lookup("index").Usage = "The pod that computes input `NUMBER` of a map, counted from 0."
}

// oneUnended completes the job of a command that takes one, without those that have ended.
func (c *command) oneUnended(sub *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.choice.CompleteUnended(sub, args, word)
}

// of returns the number of the host among the pods of a job.
func (f hostFlags) of(j *job.Job) (int, error) {
	m := j.Handle.Map
	if err := checkIndex(j, f.index); err != nil {
		return 0, err
	}
	switch {
	case j.Handle.ByPythonTool():
		return 0, cli.Usagef("job %s was submitted by keras-kinetic: use kubectl with its pod, which kubectl kinetic jobs describe %s names", j.ID(), j.ID())
	case m == nil && f.host >= max(j.Handle.Hosts, 1):
		return 0, noHost(j, f.host)
	case m == nil && f.host > 0 && j.Handle.Pathways != nil:
		return 0, cli.Usagef("--host %d: with the Pathways runtime, job %s runs its call on host 0 alone", f.host, j.ID())
	case m == nil:
		return f.host, nil
	case f.host > 0:
		return 0, cli.Usagef("--host %d: job %s is a map, whose pods have no numbers: name an input with --index", f.host, j.ID())
	case j.Handle.Backend == api.BackendLocal:
		return 0, nil
	case f.index == noIndex:
		return 0, cli.Usagef("job %s is a map: name an input with --index, for the pod that computes it", j.ID())
	}
	chunk, computed := m.ChunkOf(f.index)
	if !computed {
		return 0, cli.Usagef("--index %d: job %s reused this value of an older map, and has no pod for it", f.index, j.ID())
	}
	return chunk, nil
}

// noHost returns the error for a host that a job doesn't have.
func noHost(j *job.Job, host int) error {
	return cli.Usagef("--host %d: job %s has %s, numbered from 0", host, j.ID(), human.Count(max(j.Handle.Hosts, 1), "host"))
}

// mustRun returns an error unless a job is running on this machine or in the cluster. what is what there is none of otherwise.
func mustRun(ctx context.Context, j *job.Job, what string) error {
	status, err := j.Status(ctx)
	if err != nil {
		return err
	}
	failed := &cli.Error{Code: cli.ExitFailed, Next: fmt.Sprintf("kubectl kinetic jobs logs -f %s%s", j.ID(), j.LocationFlags())}
	switch {
	case status.Elsewhere != "":
		failed.Err, failed.Next = fmt.Errorf("job %s runs on %s: log in there", j.ID(), status.Elsewhere), "log in on "+status.Elsewhere
	case status.State == api.Running:
		return nil
	case status.State == api.Pending && status.Message != "":
		failed.Err = fmt.Errorf("job %s has not started, so there is no %s yet: %s; wait for it with %s", j.ID(), what, status.Message, failed.Next)
	case status.State == api.Pending:
		failed.Err = fmt.Errorf("job %s has not started, so there is no %s yet; wait for it with %s", j.ID(), what, failed.Next)
	default:
		return ended(j, status, what)
	}
	return failed
}

// ended returns the error for a job that has ended. what is what there is none of.
func ended(j *job.Job, s api.Status, what string) error {
	how := s.End
	if how == "" {
		how = "has no workload any more"
	}
	log := fmt.Sprintf("kubectl kinetic jobs logs %s%s", j.ID(), j.LocationFlags())
	return &cli.Error{Code: cli.ExitFailed, Err: fmt.Errorf("job %s %s, so there is no %s; its log: %s", j.ID(), how, what, log), Next: log}
}
