package jobs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/local"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/podconn"
)

// allHosts is the value of --host that asks all of them.
const allHosts = -1

type stacksFlags struct {
	hostFlags
	output string
}

func (c *command) stacks() *cobra.Command {
	f := &stacksFlags{}
	own := cli.NewSection("Flags")
	f.addTo(c, own)
	f.host = allHosts
	own.Flags.Lookup("host").Usage = "Show only `HOST`, a number from 0. Default: all."
	own.FormatVar(&f.output, "Output `FORMAT`: json.", cli.JSON)
	return c.finish(&cobra.Command{
		Use:   "stacks ID",
		Short: "Show where the threads of a running call are",
		Long: "Show where the threads of a running call are: the Python stack of each, on all hosts, the\n" +
			"newest call first. Threads with the same stack are shown once.\n\n" +
			"The call is not stopped, and the image needs nothing for it. It gets the signal SIGURG,\n" +
			"at which Python writes its stacks; programs that don't handle it get none. Of a call in\n" +
			"native code, such as a collective operation, the stack begins with the Python line that made it.",
		Example:           "  kubectl kinetic jobs stacks v6e16-train\n\n  # what host 7 does\n  kubectl kinetic jobs stacks v6e16-train --host 7",
		Args:              c.choice.OneID,
		ValidArgsFunction: c.oneUnended,
		RunE:              runE(c, f.toOptions),
	}, own, c.choice.Section())
}

type stacksOptions struct {
	*command
	stacksFlags
	ids []string
}

func (f *stacksFlags) toOptions(c *command, args []string) (*stacksOptions, error) {
	return &stacksOptions{c, *f, args}, nil
}

func (o *stacksOptions) run(ctx context.Context) error {
	j, err := o.choice.Job(ctx, o.ids)
	if err != nil {
		return err
	}
	number, err := o.number(j)
	if err != nil {
		return err
	}
	if err := mustRun(ctx, j, "call to inspect"); err != nil {
		return err
	}
	var hosts []job.StackHost
	workspace := api.PodWorkspace
	if j.Handle.Backend == api.BackendLocal {
		hosts, workspace, err = askHere(ctx, j)
	} else {
		hosts, err = o.askPods(ctx, j, number)
	}
	if err != nil {
		return err
	}
	return o.print(j, hosts, workspace)
}

// number returns the host that is asked, or allHosts. In a map, each pod counts as a host.
func (o *stacksOptions) number(j *job.Job) (int, error) {
	if o.host == allHosts && o.index == noIndex && !j.Handle.ByPythonTool() {
		return allHosts, nil
	}
	h := hostFlags{max(o.host, 0), o.index}
	return h.of(j)
}

func askHere(ctx context.Context, j *job.Job) (hosts []job.StackHost, workspace string, err error) {
	state, err := local.StateDir()
	if err != nil {
		return nil, "", err
	}
	argv, err := local.New(local.Config{StateDir: state}).StacksCommand(j.ID())
	if err != nil {
		return nil, "", fmt.Errorf("reading the stacks of local job %s: %w", j.ID(), err)
	}
	var out, errOut bytes.Buffer
	program := exec.CommandContext(ctx, argv[0], argv[1:]...)
	program.Stdout, program.Stderr = &out, &errOut
	err = program.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		return nil, "", fmt.Errorf("reading the stacks of local job %s: %w", j.ID(), err)
	}
	h := job.StackHost{}
	h.Processes, h.Why = answerOf(program.ProcessState.ExitCode(), out.Bytes(), errOut.String())
	return []job.StackHost{h}, local.Workspace(state, j.ID()), nil
}

// answerOf returns what the runner has printed, or why that is nothing.
func answerOf(code int, out []byte, errOut string) ([]job.Process, string) {
	if code != 0 {
		lines := strings.Split(strings.TrimSpace(errOut), "\n")
		said := strings.TrimPrefix(lines[len(lines)-1], "kinetic: ")
		return []job.Process{}, cmp.Or(said, fmt.Sprintf("the runner's command ended with code %d", code))
	}
	processes, err := job.ReadStacks(out)
	switch {
	case err != nil:
		return []job.Process{}, err.Error()
	case len(processes) == 0:
		return processes, "no Python process was found: the call has not begun, or it isn't Python, or it has closed its files"
	}
	return processes, ""
}

const (
	// askAtOnce is how many hosts are asked at a time.
	askAtOnce = 16
	// askTime is how long one may take: the programs of a host answer one after the other.
	askTime = time.Minute
)

func (o *stacksOptions) askPods(ctx context.Context, j *job.Job, number int) ([]job.StackHost, error) {
	detail, err := j.Backend.Inspect(ctx, j.Handle, false)
	if err != nil {
		return nil, err
	}
	way, err := backend.HostOf(o.choice.Connection, j.Handle, max(number, 0))
	if err != nil {
		return nil, err
	}
	pods := slices.DeleteFunc(slices.Clone(detail.Hosts), func(h api.Host) bool { return number != allHosts && h.Host != number })
	if len(pods) == 0 {
		return nil, &cli.Error{Code: cli.ExitFailed, Err: fmt.Errorf("job %s has no running pod at the moment: one may be restarting; see kubectl kinetic jobs describe %[1]s%s", j.ID(), j.LocationFlags())}
	}
	hosts, refused := make([]job.StackHost, len(pods)), make([]error, len(pods))
	parallel.Each(askAtOnce, pods, func(i int, pod api.Host) {
		hosts[i], refused[i] = askPod(ctx, way, pod)
	})
	for _, err := range refused {
		if err != nil {
			return nil, err
		}
	}
	return hosts, ctx.Err()
}

// askPod asks one host. The error is that no host can be asked, for want of a right.
func askPod(ctx context.Context, way *backend.Host, pod api.Host) (job.StackHost, error) {
	h := job.StackHost{Number: pod.Host, Pod: pod.Pod, Processes: []job.Process{}}
	if pod.State != api.Running {
		h.Why = strings.TrimSuffix(strings.ToLower(string(pod.State))+": "+pod.Message, ": ")
		return h, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var out, errOut bytes.Buffer
	argv := []string{"python3", "-S", api.PodRunner, "stacks", api.PodWork}
	code, err := way.Run(ctx, kube.Pod{Name: pod.Pod}, argv, podconn.Streams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	var refused *backend.RefusedError
	switch {
	case backend.LacksRight(err):
		return h, err
	case errors.Is(err, context.DeadlineExceeded):
		h.Why = fmt.Sprintf("pod %s did not answer in %s", pod.Pod, askTime)
	case errors.As(err, &refused):
		h.Why = refused.Error()
	case err != nil:
		h.Why = fmt.Sprintf("the connection to pod %s broke: %v", pod.Pod, err)
	default:
		h.Processes, h.Why = answerOf(code, out.Bytes(), errOut.String())
	}
	return h, nil
}

type stacksJSON struct {
	ID     string            `json:"id"`
	Hosts  []job.StackHost   `json:"hosts"`
	Groups []job.ThreadGroup `json:"groups"`
}

// print prints the groups, and the reasons for missing answers. If nothing did, that is an error.
func (o *stacksOptions) print(j *job.Job, hosts []job.StackHost, workspace string) error {
	groups := job.GroupThreads(hosts)
	var err error
	if o.output == "json" {
		err = cli.Write(o.streams.Out, cli.JSON, stacksJSON{j.ID(), hosts, groups})
	} else {
		_, err = o.streams.Out.Write(stacksText{j.Handle, workspace}.of(groups))
	}
	if err != nil {
		return err
	}
	silent := silentHosts(hosts)
	if len(groups) == 0 {
		return &cli.Error{Code: cli.ExitFailed, Err: fmt.Errorf("job %s has no stacks to show: %s", j.ID(), strings.Join(silent, "; "))}
	}
	for _, line := range silent {
		fmt.Fprintln(o.streams.ErrOut, line)
	}
	return nil
}
