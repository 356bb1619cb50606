package jobs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

type resultFlags struct {
	timeout time.Duration
	cleanup report.Cleanup
	output  string
	file    string
	index   int
}

func (c *command) result() *cobra.Command {
	f := &resultFlags{}
	own := process.NewSection("Flags")
	process.DurationVar(own.Flags, &f.timeout, "timeout", "Wait no longer than this for the job to end (exit code 124).")
	report.CleanupVar(own.Flags, &f.cleanup)
	indexVar(own.Flags, &f.index)
	own.Flags.StringVarP(&f.output, "output", "o", "json", "The `FORMAT`: json, or raw, which is a string without its quotes.")
	own.Flags.StringVar(&f.file, "output-file", "", "Write the result to this `FILE` instead of standard output.")
	return c.finish(&cobra.Command{
		Use:   "result ID",
		Short: "Wait for a job and print its return value as JSON",
		Long: "Wait for a job and print its return value as JSON.\n\n" +
			"Once the value has been written, the workload is removed, unless the job was submitted with --debug.\n" +
			"The result, the logs and the outputs stay until `kubectl kinetic jobs cleanup`, so that it can be printed again.\n" +
			"Of a map it is the values of all inputs, a line each, null for one that failed; the workload stays then.",
		Example: "  kubectl kinetic jobs result cpu-train\n\n  kubectl kinetic jobs result cpu-train --cleanup=false --output-file result.json",
		Args:    c.oneID,
		RunE: process.RunE(func(ctx context.Context, args []string) error {
			return c.runResult(ctx, f, own.Flags.Changed, args)
		}),
	}, own, c.choice.section())
}

// runResult prints the result of a job. changed reports whether a flag was given.
func (c *command) runResult(ctx context.Context, f *resultFlags, changed func(flag string) bool, args []string) error {
	if !slices.Contains([]string{"json", "raw"}, f.output) {
		return process.Usagef("--output %q: want json or raw", f.output)
	}
	if info, err := os.Stat(filepath.Dir(f.file)); f.file != "" && (err != nil || !info.IsDir()) {
		return process.Usagef("--output-file %s: there is no directory %s", f.file, filepath.Dir(f.file))
	}
	j, err := c.one(ctx, args)
	if err != nil {
		return err
	}
	given := changed("index")
	if err := checkIndex(j, given, f.index); err != nil {
		return err
	}
	collection := report.Collection{Cleanup: f.cleanup, Raw: f.output == "raw", File: f.file}
	if j.Handle.Debug && !changed("cleanup") {
		collection.Cleanup = report.KeepAll
	}
	if collection.Raw && j.Handle.Map != nil && !given {
		return process.Usagef("--output raw: the values of a map are lines of JSON; name one of them with --index")
	}
	waiting, cancel := report.WithTimeout(ctx, f.timeout)
	defer cancel()
	if given {
		return c.inputResult(ctx, waiting, j, f.index, collection)
	}
	if j.Handle.Map != nil {
		return report.CollectMap(ctx, waiting, c.streams, ui.New(c.streams.ErrOut, c.clock.Now), j, collection)
	}
	status, ended := j.Ended(ctx)
	if !ended || status.State != api.Succeeded || collection.Cleanup == report.KeepAll { // else the workload goes, whatever it holds
		if status, err = j.Wait(waiting, c.tellWaiting(j)); err != nil {
			return report.Interrupted(c.streams.ErrOut, j, err)
		}
	}
	if status.Reason == api.Cancelled && status.State != api.Succeeded {
		if stored, err := j.HasValue(ctx); err == nil && stored {
			return c.resultOfCancelled(ctx, j, collection)
		}
	}
	if status.State != api.Succeeded {
		return report.Settle(ctx, c.streams.ErrOut, j, status)
	}
	return report.Collect(ctx, c.streams, j, collection)
}

// resultOfCancelled prints the value of a job that was cancelled after that was stored. Its
// workload is gone already.
func (c *command) resultOfCancelled(ctx context.Context, j *job.Job, collection report.Collection) error {
	if collection.Cleanup == report.RemoveWorkload {
		collection.Cleanup = report.KeepAll
	}
	fmt.Fprintf(c.streams.ErrOut, "warning: job %s was cancelled after its value had been stored\n", j.ID())
	return report.Collect(ctx, c.streams, j, collection)
}
