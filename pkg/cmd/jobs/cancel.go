package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

func (c *command) cancel() *cobra.Command {
	return c.finish(&cobra.Command{
		Use:     "cancel ID…",
		Short:   "End jobs; their logs and outputs stay",
		Example: "  kubectl kinetic jobs cancel cpu-train",
		Args: func(sub *cobra.Command, args []string) error {
			if len(args) == 0 {
				return oneID(sub, args)
			}
			return nil
		},
		RunE: cli.RunE(c.runCancel),
	}, cli.NewSection("Flags"))
}

func (c *command) runCancel(ctx context.Context, args []string) error {
	found, failed, err := c.attachAll(ctx, args)
	if err != nil {
		return err
	}
	return tell(c.streams.ErrOut, len(args), append(failed, forEach(c.streams.Out, found, func(j *job.Job) (string, error) {
		was, err := j.Cancel(ctx, job.DefaultGrace, c.clock.Now(), job.Cancelled)
		if err != nil || !was.State.Ended() {
			return "cancelled", err
		}
		cli.Release(ctx, c.streams.ErrOut, j, was)
		fmt.Fprintf(c.streams.ErrOut, "job %s has ended already: %s\n", j.ID(), was.Word())
		return "", nil
	})...))
}

// atATime is how many jobs are worked on at a time: each may take its grace.
const atATime = 16

// forEach does something to all jobs and prints on out what, if anything, it says of
// each. It goes on after an error, so that one job does not protect the others, and
// gives that of each job, nil for none.
func forEach(out io.Writer, found []*job.Job, do func(*job.Job) (string, error)) []error {
	var g errgroup.Group
	g.SetLimit(atATime)
	var mu sync.Mutex // of the output
	errs := make([]error, len(found))
	for i, j := range found {
		g.Go(func() error {
			said, err := do(j)
			if err == nil && said != "" {
				mu.Lock()
				defer mu.Unlock()
				_, err = fmt.Fprintln(out, j.ID(), said)
			}
			if err != nil {
				errs[i] = fmt.Errorf("job %s: %w", j.ID(), err)
			}
			return nil
		})
	}
	_ = g.Wait() // errs has them all
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
	for _, err := range errs {
		fmt.Fprintf(w, "error: %v\n", err)
	}
	return cli.Exit(cli.ExitFailed)
}
