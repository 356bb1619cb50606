package jobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

func (c *command) cancel() *cobra.Command {
	output := ""
	own := cli.NewSection("Flags")
	own.Flags.StringVarP(&output, "output", "o", "", "Output `FORMAT`: json.")
	own.Offer("output", "json")
	return c.finish(&cobra.Command{
		Use:   "cancel ID…",
		Short: "Cancel jobs (keeps logs and outputs)",
		Example: "  kubectl kinetic jobs cancel cpu-train\n\n" +
			"  # the job you submitted last\n  kubectl kinetic jobs cancel --last\n\n" +
			"  # all of yours with this label that have not ended\n  kubectl kinetic jobs cancel --mine -l sweep=7",
		Args:              c.choice.SomeIDs,
		ValidArgsFunction: c.choice.CompleteUnended,
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			if err := checkFormat(output, "json"); err != nil {
				return err
			}
			return c.runCancel(ctx, args, answers{c.streams.Out, output == "json"})
		}),
	}, own, c.choice.Section())
}

// cancelled is what cancel prints about a job with -o json.
type cancelled struct {
	ID string `json:"id"`
	// Cancelled is false for a job that had ended already.
	Cancelled bool `json:"cancelled"`
	// Status is the one before.
	Status api.Status `json:"status"`
}

func (c *command) runCancel(ctx context.Context, args []string, out answers) error {
	found, failed, err := c.toCancel(ctx, args)
	if errors.Is(err, job.ErrNoJob) && !c.choice.Last {
		fmt.Fprintln(c.streams.ErrOut, err)
		return out.finish([]any{}, nil)
	}
	if err != nil {
		return err
	}
	items, errs := out.forEach(found, func(j *job.Job) (answer, error) {
		was, err := report.Cancel(ctx, c.streams.ErrOut, c.clock.Now(), j)
		done := answer{"cancelled", cancelled{j.ID(), !was.State.Ended(), was}}
		if err != nil || !was.State.Ended() {
			return done, err
		}
		if was.State == api.NotFound && was.Ended == "" {
			return done, j.NoEnd(ctx)
		}
		report.Release(ctx, c.streams.ErrOut, j, was)
		fmt.Fprintf(c.streams.ErrOut, "job %s has ended already: %s\n", j.ID(), was.Word())
		done.text = ""
		return done, nil
	})
	if err := out.finish(items, nil); err != nil {
		return err
	}
	return report.Errors(c.streams.ErrOut, max(len(args), len(found)), append(failed, errs...))
}

// toCancel finds the jobs to cancel. Flags choose only jobs that have not ended.
func (c *command) toCancel(ctx context.Context, args []string) ([]*job.Job, []error, error) {
	if c.choice.Any() {
		return c.choice.Matching(ctx, job.Filter{States: []api.State{api.Pending, api.Running}})
	}
	return c.choice.JobsToDelete(ctx, args, job.FindOptions{Unended: true})
}
