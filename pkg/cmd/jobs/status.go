package jobs

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

func (c *command) status() *cobra.Command {
	var output string
	var index int
	own := process.NewSection("Flags")
	indexVar(own.Flags, &index)
	own.Flags.StringVarP(&output, "output", "o", "", "The `FORMAT`: json for more than the state's word.")
	return c.finish(&cobra.Command{
		Use:   "status ID…",
		Short: "Print the state of a job: one of " + stateNames(),
		Long: "Print the state of a job: one of " + stateNames() + ".\n\n" +
			"Of several jobs it prints a line each, with the ID in front.",
		Example: "  kubectl kinetic jobs status cpu-train",
		Args:    c.someIDs,
		RunE: process.RunE(func(ctx context.Context, args []string) error {
			if err := checkJSON(output); err != nil {
				return err
			}
			jobs, failed, err := c.several(ctx, args)
			if err != nil {
				return err
			}
			given := own.Flags.Changed("index")
			if c.severalWanted(args) {
				if given {
					return process.Usagef("--index: name one job")
				}
				return c.printStatuses(ctx, jobs, failed, output)
			}
			j := jobs[0]
			if err := checkIndex(j, given, index); err != nil {
				return err
			}
			status, err := c.statusOf(ctx, j, given, index)
			if err != nil {
				return err
			}
			if output == "json" {
				s, err := jsonStatus(ctx, j, status, given)
				if err != nil {
					return err
				}
				return printJSON(c.streams.Out, s)
			}
			_, err = fmt.Fprintln(c.streams.Out, status.State)
			return err
		}),
	}, own, c.choice.section())
}

// printStatuses prints the states of several jobs. failed are the errors of those that can't
// be found.
func (c *command) printStatuses(ctx context.Context, jobs []*job.Job, failed []error, output string) error {
	all, errs := each(jobs, func(j *job.Job) (statusJSON, error) {
		status, err := c.statusOf(ctx, j, false, 0)
		if err != nil || output != "json" {
			return statusJSON{ID: j.ID(), Status: status}, err
		}
		return jsonStatus(ctx, j, status, false)
	})
	items := []statusJSON{}
	table := ui.NewTable(c.streams.Out)
	for i, s := range all {
		if errs[i] == nil {
			items = append(items, s)
			table.Row(s.ID, string(s.State))
		}
	}
	write := table.Flush
	if output == "json" {
		write = func() error { return printJSON(c.streams.Out, map[string]any{"items": items}) }
	}
	if err := write(); err != nil {
		return err
	}
	return tell(c.streams.ErrOut, max(len(jobs)+len(failed), 2), append(failed, errs...))
}

// statusJSON is a status for programs.
type statusJSON struct {
	ID string `json:"id"`
	api.Status
	// Inputs tells how far a map is.
	Inputs *job.Progress `json:"inputs,omitempty"`
}

func jsonStatus(ctx context.Context, j *job.Job, s api.Status, ofInput bool) (statusJSON, error) {
	status := statusJSON{ID: j.ID(), Status: s}
	if ofInput {
		return status, nil
	}
	var err error
	status.Inputs, err = j.Progress(ctx)
	return status, err
}

// statusOf is the state of a job, or of one input of a map.
func (c *command) statusOf(ctx context.Context, j *job.Job, ofInput bool, index int) (api.Status, error) {
	if ofInput {
		return inputStatus(ctx, j, index)
	}
	status, err := j.Status(ctx)
	if err == nil {
		report.TellUnread(c.streams.ErrOut, status)
		report.Remember(ctx, c.streams.ErrOut, j, status)
	}
	return status, err
}

// checkJSON checks that --output is json, or was not given.
func checkJSON(output string) error {
	if output != "" && output != "json" {
		return process.Usagef("--output %q: want json", output)
	}
	return nil
}
