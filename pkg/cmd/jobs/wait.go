package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

func (c *command) wait() *cobra.Command {
	var timeout time.Duration
	output := ""
	own := cli.NewSection("Flags")
	cli.DurationVar(own.Flags, &timeout, "timeout", "Stop waiting after this time (exit code 124).")
	own.FormatVar(&output, "Output `FORMAT`: json.", cli.JSON)
	return c.finish(&cobra.Command{
		Use:   "wait ID…",
		Short: "Wait until jobs have ended; exit with their exit code",
		Long: "Wait until jobs have ended; exit with their exit code.\n\n" +
			"Each job is printed when it ends, with its status; the exit code of several is 0 if all\n" +
			"succeeded, else 1.",
		Example: "  kubectl kinetic jobs wait cpu-train --timeout 10m && echo done\n\n" +
			"  # all jobs with this label\n  kubectl kinetic jobs wait -l sweep=7",
		Args:              c.choice.SomeIDs,
		ValidArgsFunction: c.choice.CompleteUnended,
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			return (&waitOptions{json: output == "json", command: c, args: args, many: c.choice.MayBeSeveral(args), timeout: timeout}).run(ctx)
		}),
	}, own, c.choice.Section())
}

type waitOptions struct {
	*command
	args    []string
	many    bool
	timeout time.Duration
	json    bool
}

func (o *waitOptions) run(ctx context.Context) error {
	jobs, failed, err := o.choice.Jobs(ctx, o.args)
	if err != nil {
		return o.withEnded(ctx, err)
	}
	waiting, cancel := report.WithTimeout(ctx, o.timeout)
	defer cancel()
	if o.many {
		return o.waitForAll(ctx, waiting, jobs, failed)
	}
	j := jobs[0]
	status, err := j.Wait(waiting, o.tellWaiting(j))
	if err != nil {
		return report.Interrupted(o.streams.ErrOut, j, status.State, err)
	}
	if o.json {
		err = cli.Write(o.streams.Out, cli.JSON, statusJSON{ID: j.ID(), Status: status})
	} else {
		_, err = fmt.Fprintln(o.streams.Out, j.ID(), status.Word())
	}
	if err != nil {
		return err
	}
	return report.Settle(ctx, o.streams.ErrOut, j, report.End{Status: status})
}

// withEnded adds to the error that no job matches how many have ended, whose workloads are gone.
func (o *waitOptions) withEnded(ctx context.Context, err error) error {
	if !errors.Is(err, job.ErrNoJob) || o.choice.Last {
		return err
	}
	registry, unknown := o.choice.Registry()
	var filter job.Filter
	if unknown != nil || o.choice.ApplyTo(&filter) != nil {
		return err
	}
	if hint := endedHint(ctx, registry, filter, "kubectl kinetic jobs list --all"+registry.Flags); hint != "" {
		return fmt.Errorf("%w%s", err, hint)
	}
	return err
}

// waitForAll waits for several jobs. It watches all of them at the same time, however many
// there are: otherwise a job that has ended could be reported as running because it was not
// watched yet. failed are the errors of jobs that can't be found.
func (o *waitOptions) waitForAll(ctx, waiting context.Context, jobs []*job.Job, failed []error) error {
	var mu sync.Mutex // of the output
	var running []string
	unsuccessful := false
	out, items := answers{o.streams.Out, o.json}, []any{} // in the order of their ends
	errs := make([]error, len(jobs))
	parallel.Each(len(jobs), jobs, func(i int, j *job.Job) {
		status, err := j.Wait(waiting, func(api.Status) {})
		mu.Lock()
		defer mu.Unlock()
		if err != nil && waiting.Err() != nil {
			running = append(running, fmt.Sprintf("job %s %s", j.ID(), report.Standing(status.State)))
			return
		}
		if err != nil {
			errs[i] = report.OfJob(j.ID(), err)
			return
		}
		var said bytes.Buffer
		to := io.Writer(&said)
		if event.Of(o.streams.ErrOut) != nil { // which has lines of its own
			to = o.streams.ErrOut
		}
		err = report.Settle(ctx, to, j, report.End{Status: status})
		var printed error
		if items = append(items, statusJSON{ID: j.ID(), Status: status}); !o.json {
			_, printed = fmt.Fprintln(o.streams.Out, j.ID(), status.Word())
		}
		_, _ = o.streams.ErrOut.Write(said.Bytes())
		var outcome *cli.Error
		if unsuccessful = unsuccessful || err != nil; errors.As(err, &outcome) && (outcome.Printed() || outcome.Kind == api.KindJobFailed) {
			err = nil // it was printed already, or its result was sent
		}
		errs[i] = errors.Join(err, printed)
	})
	code := cli.ExitFailed
	switch {
	case ctx.Err() != nil:
		code = cli.ExitInterrupted
	case waiting.Err() != nil && len(running) > 0:
		code = cli.ExitTimeout
	}
	for _, line := range running {
		fmt.Fprintln(o.streams.ErrOut, line)
	}
	errs = append(append(failed, errs...), out.finish(items, nil))
	if code != cli.ExitFailed {
		report.PrintErrors(o.streams.ErrOut, errs)
		return cli.Exit(code)
	}
	err := report.Errors(o.streams.ErrOut, max(len(jobs)+len(failed), 2), errs)
	if err == nil && unsuccessful {
		return cli.Error{Code: cli.ExitFailed, Kind: api.KindJobFailed, Err: errors.New("some of the jobs did not succeed")}.In(o.streams.ErrOut, "")
	}
	return err
}
