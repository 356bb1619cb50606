package jobs

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

type statusFlags struct {
	output string
	index  int
}

func (c *command) status() *cobra.Command {
	f := &statusFlags{}
	own := cli.NewSection("Flags")
	indexVar(own.Flags, &f.index)
	own.FormatVar(&f.output, "Output `FORMAT`: json.", cli.JSON)
	return c.finish(&cobra.Command{
		Use:   "status ID…",
		Short: "Print the status of a job: one of " + stateNames(),
		Long: "Print the status of a job: one of " + stateNames() + ".\n\n" +
			"For several jobs, print one line each: ID and status.",
		Example: "  kubectl kinetic jobs status cpu-train",
		Args:    c.choice.SomeIDs,
		RunE:    runE(c, f.toOptions),
	}, own, c.choice.Section())
}

type statusOptions struct {
	*command
	args  []string
	many  bool
	index int
	json  bool
}

func (f *statusFlags) toOptions(c *command, args []string) (*statusOptions, error) {
	many := c.choice.MayBeSeveral(args)
	if many && f.index != noIndex {
		return nil, cli.Usagef("--index takes one job")
	}
	return &statusOptions{command: c, args: args, many: many, index: f.index, json: f.output == "json"}, nil
}

func (o *statusOptions) run(ctx context.Context) error {
	jobs, failed, err := o.choice.Jobs(ctx, o.args)
	if err != nil {
		return err
	}
	if o.many {
		return o.printAll(ctx, jobs, failed)
	}
	j := jobs[0]
	if err := checkIndex(j, o.index); err != nil {
		return err
	}
	status, err := o.statusOf(ctx, j)
	if err != nil {
		return err
	}
	if o.json {
		return cli.Write(o.streams.Out, cli.JSON, status)
	}
	o.tellWhy(status)
	_, err = fmt.Fprintln(o.streams.Out, status.State)
	return err
}

// tellWhy prints on standard error what a state leaves out: how a job ended that is gone, or what one waits for.
func (o *statusOptions) tellWhy(s statusJSON) {
	switch {
	case o.json:
	case s.State == api.NotFound && s.End != "":
		fmt.Fprintf(o.streams.ErrOut, "job %s %s\n", s.ID, ui.Clean(s.End))
	case s.Word() == api.CancelledWord: // by State, a failure
		fmt.Fprintf(o.streams.ErrOut, "job %s was %s\n", s.ID, ui.Clean(s.Outcome()))
	case s.State == api.Pending && s.Message != "":
		fmt.Fprintf(o.streams.ErrOut, "job %s is %s\n", s.ID, ui.Clean(s.Outcome()))
	}
}

// printAll prints the states of several jobs. failed are the errors of those that can't be found.
func (o *statusOptions) printAll(ctx context.Context, jobs []*job.Job, failed []error) error {
	all, errs := each(jobs, func(j *job.Job) (statusJSON, error) { return o.statusOf(ctx, j) })
	items := []statusJSON{}
	table := ui.NewTable(o.streams.Out, 2)
	for i, s := range all {
		if errs[i] == nil {
			items = append(items, s)
			table.Row(s.ID, string(s.State))
			o.tellWhy(s)
		}
	}
	write := table.Flush
	if o.json {
		write = func() error { return cli.Write(o.streams.Out, cli.JSON, map[string]any{"items": items}) }
	}
	if err := write(); err != nil {
		return err
	}
	return report.Errors(o.streams.ErrOut, max(len(jobs)+len(failed), 2), append(failed, errs...))
}

type statusJSON struct {
	ID string `json:"id"`
	api.Status
	// Inputs are the states of the inputs of a map.
	Inputs *records.MapStates `json:"inputs,omitempty"`
}

// statusOf returns the status of a job, or of one input of a map.
func (o *statusOptions) statusOf(ctx context.Context, j *job.Job) (s statusJSON, err error) {
	s.ID = j.ID()
	if o.index != noIndex {
		s.Status, err = inputStatus(ctx, j, o.index)
		return s, err
	}
	if s.Status, err = j.Status(ctx); err != nil {
		return s, err
	}
	if s.Unread != "" {
		fmt.Fprintf(o.streams.ErrOut, "warning: the status comes from the store, because the cluster could not be reached: %s\n", ui.Clean(s.Unread))
	}
	report.Remember(ctx, o.streams.ErrOut, j, s.Status)
	if o.json {
		s.Inputs, err = j.States(ctx, s.Status)
	}
	return s, err
}
