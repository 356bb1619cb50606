package jobs

import (
	"context"
	"errors"
	"fmt"

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
		Args:              c.choice.SomeIDs,
		ValidArgsFunction: c.choice.CompleteUnended,
		RunE:              process.RunE(c.runCancel),
	}, c.choice.Section())
}

func (c *command) runCancel(ctx context.Context, args []string) error {
	found, failed, err := c.toCancel(ctx, args)
	if errors.Is(err, job.ErrNoJob) && !c.choice.Last {
		fmt.Fprintln(c.streams.ErrOut, err)
		return nil
	}
	if err != nil {
		return err
	}
	return report.Errors(c.streams.ErrOut, max(len(args), len(found)), append(failed, forEach(c.streams.Out, found, func(j *job.Job) (string, error) {
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

// toCancel finds the jobs to cancel. Flags choose only jobs that have not ended.
func (c *command) toCancel(ctx context.Context, args []string) ([]*job.Job, []error, error) {
	if c.choice.Given() {
		return c.choice.Matching(ctx, job.Filter{States: []api.State{api.Pending, api.Running}})
	}
	return c.choice.All(ctx, args, job.Registry.AttachUnended)
}
