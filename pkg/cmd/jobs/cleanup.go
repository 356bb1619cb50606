package jobs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

func (c *command) cancel() *cobra.Command {
	return c.finish(&cobra.Command{
		Use:     "cancel ID…",
		Short:   "End jobs; their logs and outputs stay",
		Example: "  kubectl kinetic jobs cancel cpu-train --local",
		Args: func(sub *cobra.Command, args []string) error {
			if len(args) == 0 {
				return oneID(sub, args)
			}
			return nil
		},
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			found, err := c.attachAll(ctx, args)
			if err != nil {
				return err
			}
			return forEach(found, func(j *job.Job) error {
				was, err := j.Cancel(ctx, job.DefaultGrace, c.clock.Now(), job.Cancelled)
				if err != nil {
					return err
				}
				if was.State.Ended() {
					cli.Release(ctx, c.streams.ErrOut, j, was)
					fmt.Fprintf(c.streams.ErrOut, "job %s has ended already: %s\n", j.ID(), was.State)
					return nil
				}
				_, err = fmt.Fprintf(c.streams.Out, "%s cancelled\n", j.ID())
				return err
			})
		}),
	}, cli.NewSection("Flags"))
}

// attachAll finds all jobs before anything is done to one of them.
func (c *command) attachAll(ctx context.Context, ids []string) ([]*job.Job, error) {
	found := make([]*job.Job, 0, len(ids))
	for _, id := range ids {
		j, err := c.attachAny(ctx, id)
		if err != nil {
			return nil, err
		}
		found = append(found, j)
	}
	return found, nil
}

// forEach goes on after an error, so that one job does not protect the others.
func forEach(found []*job.Job, do func(*job.Job) error) error {
	var errs []error
	for _, j := range found {
		if err := do(j); err != nil {
			errs = append(errs, fmt.Errorf("job %s: %w", j.ID(), err))
		}
	}
	return errors.Join(errs...)
}

type cleanupFlags struct {
	workload, stored, outputs bool
	all                       bool
	states                    []string
	olderThan                 time.Duration
	yes                       bool
}

func (c *command) cleanup() *cobra.Command {
	f := &cleanupFlags{}
	own := cli.NewSection("Flags")
	own.Flags.BoolVar(&f.workload, "k8s", true, "Remove the workload. A job that runs is ended.")
	own.Flags.BoolVar(&f.stored, "gcs", true, "Remove the handle, the logs and the result from the store.")
	own.Flags.BoolVar(&f.outputs, "outputs", false, "Remove what the job wrote below KINETIC_OUTPUT_DIR, too.")
	own.Flags.BoolVar(&f.all, "all", false, "Clean up all jobs.")
	own.Flags.StringSliceVar(&f.states, "status", nil, "Clean up all jobs in this `STATE`: "+stateNames()+".")
	cli.DurationVar(own.Flags, &f.olderThan, "older-than", "Clean up all jobs submitted longer ago than this: 90m, 720h.")
	own.Flags.BoolVarP(&f.yes, "yes", "y", false, "Don't ask.")
	return c.finish(&cobra.Command{
		Use:   "cleanup [ID…]",
		Short: "Remove what is left of jobs",
		Example: "  # one job, its outputs too\n  kubectl kinetic jobs cleanup cpu-train --outputs --local\n\n" +
			"  # everything that ended more than a month ago\n  kubectl kinetic jobs cleanup --older-than 720h --status SUCCEEDED,FAILED,NOT_FOUND -y --local",
		RunE: cli.RunE(func(ctx context.Context, args []string) error { return c.runCleanup(ctx, f, args) }),
	}, own)
}

func (c *command) runCleanup(ctx context.Context, f *cleanupFlags, args []string) error {
	found, err := c.chosen(ctx, f, args)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		fmt.Fprintln(c.streams.ErrOut, "no jobs found")
		return nil
	}
	if err := c.keepRecords(ctx, f, found); err != nil {
		return err
	}
	if err := c.confirm(ctx, f, args, found); err != nil {
		return err
	}
	return forEach(found, func(j *job.Job) error {
		err := j.Cleanup(ctx, job.Parts{Workload: f.workload, Stored: f.stored, Outputs: f.outputs})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.streams.Out, "%s cleaned up\n", j.ID())
		return err
	})
}

// chosen are the jobs that the arguments name, or else the filters choose.
func (c *command) chosen(ctx context.Context, f *cleanupFlags, args []string) ([]*job.Job, error) {
	filtered := f.all || len(f.states) > 0 || f.olderThan > 0
	switch {
	case len(args) > 0 && filtered:
		return nil, cli.Usagef("cleanup takes ids, or --all, --status and --older-than, not both")
	case len(args) > 0:
		return c.attachAll(ctx, args)
	case !filtered:
		return nil, cli.Usagef("cleanup needs an id, or --all, --status or --older-than")
	}
	states, err := parseStates(f.states)
	if err != nil {
		return nil, err
	}
	filter := job.Filter{States: states, Stored: true, Remnants: f.all}
	if f.olderThan > 0 {
		filter.Before = c.clock.Now().Add(-f.olderThan)
	}
	place, err := c.place()
	if err != nil {
		return nil, err
	}
	entries, err := place.Entries(ctx, filter, api.TellStates)
	if err != nil {
		fmt.Fprintln(c.streams.ErrOut, "left alone: "+err.Error())
	}
	found := make([]*job.Job, 0, len(entries))
	for _, e := range entries {
		j, err := place.Open(ctx, e)
		if err != nil {
			fmt.Fprintln(c.streams.ErrOut, "left alone: "+err.Error())
			continue
		}
		found = append(found, j)
	}
	return found, nil
}

// keepRecords holds that no job goes on whose records are gone: nobody could
// follow it, nor bring its result back.
func (c *command) keepRecords(ctx context.Context, f *cleanupFlags, found []*job.Job) error {
	if f.workload || !f.stored {
		return nil
	}
	for _, j := range found {
		status, err := j.Status(ctx)
		if err != nil {
			return err
		}
		if !status.State.Ended() {
			return cli.Usagef("job %s is %s and needs its records: cancel it first, or leave --k8s=false out", j.ID(), status.State)
		}
	}
	return nil
}

// confirm asks before jobs are removed that nobody named, or that still run.
func (c *command) confirm(ctx context.Context, f *cleanupFlags, args []string, found []*job.Job) error {
	if f.yes {
		return nil
	}
	running := 0
	for _, j := range found {
		status, err := j.Status(ctx)
		if err != nil {
			return err
		}
		if f.workload && (status.State == api.Running || status.State == api.Pending) {
			running++
		}
	}
	if len(args) > 0 && running == 0 {
		return nil
	}
	question := fmt.Sprintf("%d job(s) would be cleaned up, %d of them still running", len(found), running)
	in, ok := c.streams.In.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return cli.Usagef("%s; there is no terminal to ask on: say -y", question)
	}
	fmt.Fprintf(c.streams.ErrOut, "%s. Go on? [y/N] ", question)
	answer, _ := bufio.NewReader(c.streams.In).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errors.New("nothing was cleaned up")
	}
	return nil
}
