package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func (c *command) cancel() *cobra.Command {
	var o cancelOptions
	output := ""
	own := cli.NewSection("Flags")
	own.FormatVar(&output, "Output `FORMAT`: json.", cli.JSON)
	own.Flags.BoolVar(&o.dryRun, "dry-run", false, "Only print the jobs that would be cancelled.")
	own.Flags.BoolVarP(&o.yes, "yes", "y", false, "Don't ask for confirmation. Without a terminal, nothing is asked.")
	return c.finish(&cobra.Command{
		Use:   "cancel ID…",
		Short: "Cancel jobs (keeps logs and outputs)",
		Example: "  kubectl kinetic jobs cancel cpu-train\n\n" +
			"  # the job you submitted last\n  kubectl kinetic jobs cancel --last\n\n" +
			"  # all of yours with this label that have not ended\n  kubectl kinetic jobs cancel --mine -l sweep=7",
		Args:              c.choice.SomeIDs,
		ValidArgsFunction: c.choice.CompleteUnended,
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			o.out = answers{c.streams.Out, output == "json"}
			return c.runCancel(ctx, args, o)
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

// cancelOptions are what cancel does with the jobs that it finds.
type cancelOptions struct {
	dryRun, yes bool
	out         answers
}

func (c *command) runCancel(ctx context.Context, args []string, o cancelOptions) error {
	found, failed, err := c.toCancel(ctx, args)
	if errors.Is(err, job.ErrNoJob) && !c.choice.Last {
		fmt.Fprintln(c.streams.ErrOut, err)
		return o.out.finish([]any{}, nil)
	}
	if err != nil {
		return err
	}
	if o.dryRun {
		if err := c.previewCancel(ctx, found, o.out); err != nil {
			return err
		}
		return report.Errors(c.streams.ErrOut, max(len(args), len(found)), failed)
	}
	if !o.yes && c.choice.Any() && len(found) > 1 && cli.CannotAsk(c.streams) == "" {
		if err := c.confirmCancel(ctx, found); err != nil {
			return err
		}
	}
	return c.cancelEach(ctx, args, found, failed, o.out)
}

// previewedCancel is what cancel --dry-run -o json prints about a job.
type previewedCancel struct {
	ID       string `json:"id"`
	Function string `json:"function"`
}

// previewCancel prints the jobs that cancel would end.
func (c *command) previewCancel(ctx context.Context, found []*job.Job, out answers) error {
	items, running := []any{}, []*job.Job{}
	for _, j := range found {
		if s, ended := j.Ended(ctx); ended {
			c.endedAlready(j, s)
			continue
		}
		running = append(running, j)
		items = append(items, previewedCancel{j.ID(), j.Handle.FuncName})
	}
	if out.json {
		return out.finish(items, nil)
	}
	if len(running) > 0 {
		if err := listToCancel(c.streams.Out, running); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(c.streams.ErrOut, "%s would be cancelled; nothing was done\n", human.Count(len(running), "job"))
	return err
}

func (c *command) endedAlready(j *job.Job, s api.Status) {
	fmt.Fprintf(c.streams.ErrOut, "job %s has ended already: %s\n", j.ID(), s.Word())
}

// confirmCancel asks before it ends several jobs that flags have chosen.
func (c *command) confirmCancel(ctx context.Context, found []*job.Job) error {
	if err := showFirst(c.streams.ErrOut, found, listToCancel); err != nil {
		return err
	}
	return cli.Confirm(ctx, c.streams, human.Count(len(found), "job")+" would be cancelled", "nothing was cancelled")
}

func listToCancel(w io.Writer, found []*job.Job) error {
	columns := ui.Columns("id", "function")
	columns[0].Short = store.ShortID
	t := ui.NewFitted(w, ui.Detect(w), true, columns...)
	for _, j := range found {
		t.Row(j.ID(), j.Handle.FuncName)
	}
	return t.Flush()
}

// cancelEach cancels the jobs that were found. failed has the errors of the others.
func (c *command) cancelEach(ctx context.Context, args []string, found []*job.Job, failed []error, out answers) error {
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
		c.endedAlready(j, was)
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
