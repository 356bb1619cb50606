package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

func (c *command) status() *cobra.Command {
	var output string
	var index int
	own := cli.NewSection("Flags")
	indexVar(own.Flags, &index)
	own.Flags.StringVarP(&output, "output", "o", "", "The `FORMAT`: json for more than the state's word.")
	return c.finish(&cobra.Command{
		Use:     "status ID",
		Short:   "Print the state of a job: one of " + stateNames(),
		Example: "  kubectl kinetic jobs status cpu-train",
		Args:    oneID,
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			if err := checkJSON(output); err != nil {
				return err
			}
			j, err := c.attach(ctx, args[0])
			if err != nil {
				return err
			}
			given := own.Flags.Changed("index")
			if err := checkIndex(j, given, index); err != nil {
				return err
			}
			status, err := c.statusOf(ctx, j, given, index)
			if err != nil {
				return err
			}
			if output == "json" {
				return c.printStatus(ctx, j, status, given)
			}
			_, err = fmt.Fprintln(c.streams.Out, status.State)
			return err
		}),
	}, own)
}

// printStatus prints a status for programs: of a map, with how far it is.
func (c *command) printStatus(ctx context.Context, j *job.Job, s api.Status, ofInput bool) (err error) {
	var inputs *job.Progress
	if !ofInput {
		if inputs, err = j.Progress(ctx); err != nil {
			return err
		}
	}
	return printJSON(c.streams.Out, struct {
		ID string `json:"id"`
		api.Status
		Inputs *job.Progress `json:"inputs,omitempty"`
	}{j.ID(), s, inputs})
}

// statusOf is the state of a job, or of one input of a map.
func (c *command) statusOf(ctx context.Context, j *job.Job, ofInput bool, index int) (api.Status, error) {
	if ofInput {
		return inputStatus(ctx, j, index)
	}
	status, err := j.Status(ctx)
	if err == nil {
		cli.TellUnread(c.streams.ErrOut, status)
		cli.Remember(ctx, c.streams.ErrOut, j, status)
	}
	return status, err
}

// checkJSON holds that --output is json, or was not given.
func checkJSON(output string) error {
	if output != "" && output != "json" {
		return cli.Usagef("--output %q: want json", output)
	}
	return nil
}

func (c *command) wait() *cobra.Command {
	var timeout time.Duration
	own := cli.NewSection("Flags")
	cli.DurationVar(own.Flags, &timeout, "timeout", "Wait no longer than this (exit code 124).")
	return c.finish(&cobra.Command{
		Use:     "wait ID",
		Short:   "Wait until a job has ended, and exit with its outcome",
		Example: "  kubectl kinetic jobs wait cpu-train --timeout 10m && echo well done",
		Args:    oneID,
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			j, err := c.attach(ctx, args[0])
			if err != nil {
				return err
			}
			waiting, cancel := cli.WithTimeout(ctx, timeout)
			defer cancel()
			status, err := j.Wait(waiting, c.tellWaiting(j))
			if err != nil {
				return cli.Interrupted(c.streams.ErrOut, j, err)
			}
			return cli.Settle(ctx, c.streams.ErrOut, j, status)
		}),
	}, own)
}
