package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

func (c *command) cancel() *cobra.Command {
	return c.finish(&cobra.Command{
		Use:   "cancel ID…",
		Short: "Cancel jobs (keeps logs and outputs)",
		Example: "  kubectl kinetic jobs cancel cpu-train\n\n" +
			"  # the job you submitted last\n  kubectl kinetic jobs cancel --last\n\n" +
			"  # all of yours with this label that have not ended\n  kubectl kinetic jobs cancel --mine -l sweep=7",
		Args: c.someIDs,
		RunE: process.RunE(c.runCancel),
	}, c.choice.section())
}

func (c *command) runCancel(ctx context.Context, args []string) error {
	found, failed, err := c.toCancel(ctx, args)
	if errors.Is(err, job.ErrNoJob) && !c.choice.last {
		fmt.Fprintln(c.streams.ErrOut, err)
		return nil
	}
	if err != nil {
		return err
	}
	return tell(c.streams.ErrOut, max(len(args), len(found)), append(failed, forEach(c.streams.Out, found, func(j *job.Job) (string, error) {
		was, err := j.Cancel(ctx, job.DefaultGrace, c.clock.Now(), api.CancelledMessage)
		if err != nil || !was.State.Ended() {
			return "cancelled", err
		}
		if was.State == api.NotFound && was.Ended == "" {
			return "", fmt.Errorf("job %s has no workload here, and the store does not say how it ended", j.ID())
		}
		report.Release(ctx, c.streams.ErrOut, j, was)
		fmt.Fprintf(c.streams.ErrOut, "job %s has ended already: %s\n", j.ID(), was.Word())
		return "", nil
	})...))
}

// toCancel finds the jobs that are to be cancelled. Flags choose those that have not ended.
func (c *command) toCancel(ctx context.Context, args []string) ([]*job.Job, []error, error) {
	if c.choice.given() {
		return c.flagged(ctx, job.Filter{States: []api.State{api.Pending, api.Running}})
	}
	return c.attachAll(ctx, args, job.Registry.AttachUnended)
}

// atATime is how many jobs are worked on at a time: each may take its grace.
const atATime = 16

// forEach does something to all jobs and prints on out what, if anything, it says of
// each. It continues after an error, so that one job does not protect the others, and
// gives that of each job, nil for none.
func forEach(out io.Writer, found []*job.Job, do func(*job.Job) (string, error)) []error {
	var mu sync.Mutex // of the output
	_, errs := each(found, func(j *job.Job) (struct{}, error) {
		said, err := do(j)
		if err == nil && said != "" {
			mu.Lock()
			defer mu.Unlock()
			_, err = fmt.Fprintln(out, j.ID(), said)
		}
		return struct{}{}, err
	})
	return errs
}

// tell makes one error of those of some jobs, of which each may be nil. Of several jobs
// each error has its own line on w, and the exit code is 1: the others were dealt with.
func tell(w io.Writer, jobs int, errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	interrupted := func(err error) bool { return errors.Is(err, context.Canceled) }
	if len(errs) == 0 || jobs == 1 || slices.ContainsFunc(errs, interrupted) {
		return errors.Join(errs...)
	}
	printErrors(w, errs)
	return process.Exit(process.ExitFailed)
}

// printErrors prints errors, of which each may be nil, one on each line.
func printErrors(w io.Writer, errs []error) {
	for _, err := range errs {
		if err != nil {
			fmt.Fprintf(w, "error: %v\n", err)
		}
	}
}
