package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/verify"
)

type resultFlags struct {
	timeout time.Duration
	cleanup report.Cleanup
	output  string
	file    string
	index   int
	// trustStore delivers pickles whose hash only their store has.
	trustStore bool
	// keepDebugged says that --cleanup was not given: a job with --debug keeps its workload.
	keepDebugged bool
}

func (c *command) result() *cobra.Command {
	f := &resultFlags{}
	own := cli.NewSection("Flags")
	cli.DurationVar(own.Flags, &f.timeout, "timeout", "Stop waiting after this time (exit code 124).")
	report.CleanupVar(own, &f.cleanup)
	indexVar(own.Flags, &f.index)
	own.Flags.StringVarP(&f.output, "output", "o", "json", "Output `FORMAT`: json, raw (a string without quotes), or inputs (of a map: a line {index, input, value} for each).")
	own.Offer("output", "json", "raw", report.InputsFormat)
	own.Flags.StringVar(&f.file, "output-file", "", "Write the result to `FILE` instead of standard output. Of a job with --payload, write the pickle, not its JSON.")
	own.Flags.BoolVar(&f.trustStore, "trust-store", false, "Accept a pickled result that only its store vouches for.")
	return c.finish(&cobra.Command{
		Use:   "result ID…",
		Short: "Wait for a job and print its return value as JSON",
		Long: "Wait for a job and print its return value as JSON.\n\n" +
			"Once the value is written, the workload is deleted, unless the job was submitted with --debug.\n" +
			"Result, logs and outputs are kept until `kubectl kinetic jobs cleanup`: a result can be printed again.\n" +
			"A map prints one line per input, null for an input that failed; its workload is kept if any failed.\n\n" +
			"For several jobs, print one line each, {\"id\":…,\"value\":…} or {\"id\":…,\"error\":{…}}, in the order of the IDs.\n" +
			"The exit code is 1 if one has no value. -l and --mine include jobs whose workload is gone.",
		Example: "  kubectl kinetic jobs result cpu-train\n\n  kubectl kinetic jobs result cpu-train --cleanup=false --output-file result.json\n\n" +
			"  # the values of a sweep\n  kubectl kinetic jobs result -l sweep=7",
		Args: c.choice.SomeIDs,
		RunE: runE(c, func(c *command, args []string) (*resultOptions, error) {
			f.keepDebugged = !own.Flags.Changed("cleanup")
			return f.toOptions(c, args)
		}),
	}, own, c.choice.Section())
}

type resultOptions struct {
	*command
	args         []string
	many         bool
	index        int
	timeout      time.Duration
	collection   report.Collection
	keepDebugged bool
}

func (f *resultFlags) toOptions(c *command, args []string) (*resultOptions, error) {
	if err := cli.OneOf("--output", f.output, []string{"json", "raw", report.InputsFormat}); err != nil {
		return nil, err
	}
	if err := report.CheckOutputFile(f.file); err != nil {
		return nil, err
	}
	many := c.choice.MayBeSeveral(args)
	for _, flag := range []struct {
		name  string
		given bool
	}{{"--output " + f.output, f.output != "json"}, {"--output-file", f.file != ""}, {"--index", f.index != noIndex}} {
		if many && flag.given {
			return nil, cli.Usagef("%s cannot be combined with several jobs", flag.name)
		}
	}
	return &resultOptions{command: c, args: args, many: many, index: f.index, timeout: f.timeout, keepDebugged: f.keepDebugged,
		collection: report.Collection{Cleanup: f.cleanup, Raw: f.output == "raw", Inputs: f.output == report.InputsFormat, File: f.file,
			Trust: verify.Verifier{Reports: backend.Reports(), TrustStore: f.trustStore, Timeout: verify.DefaultPatience}}}, nil
}

// check rejects flags that a job has nothing for.
func (o *resultOptions) check(j *job.Job) error {
	if err := checkIndex(j, o.index); err != nil {
		return err
	}
	c, isMap, pickled := o.collection, j.Handle.Map != nil, j.Handle.CallKind == api.CallPickle
	switch {
	case c.Raw && isMap && o.index == noIndex:
		return cli.Usagef("--output raw cannot print all values of a map: choose one with --index")
	case c.Inputs && !isMap:
		return cli.Usagef("--output inputs: job %s is not a map", j.ID())
	case c.Inputs && o.index != noIndex:
		return cli.Usagef("--output inputs: --index prints one value: omit one of them")
	case c.Inputs && pickled:
		return cli.Usagef("--output inputs: the inputs of job %s are Python objects: print its values without --output inputs; kinetic.table(batch), where it was submitted, has both", j.ID())
	case c.Raw && c.File != "" && pickled:
		return cli.Usagef("--output raw cannot be combined with --output-file for job %s, which has a pickle: omit one of them", j.ID())
	case o.index != noIndex && c.File != "" && pickled:
		return cli.Usagef("--index %d cannot be combined with --output-file for job %s: it gets the pickles of all inputs, and standard output says where each is", o.index, j.ID())
	}
	return nil
}

func (o *resultOptions) run(ctx context.Context) error {
	if o.many {
		return o.runAll(ctx)
	}
	j, err := o.choice.Job(ctx, o.args)
	if err != nil {
		return err
	}
	if err := o.check(j); err != nil {
		return err
	}
	collection := o.collection
	if j.Handle.Debug && o.keepDebugged {
		collection.Cleanup = report.KeepAll
	}
	waiting, cancel := report.WithTimeout(ctx, o.timeout)
	defer cancel()
	if o.index != noIndex {
		return o.inputResult(ctx, waiting, j, o.index, collection)
	}
	if j.Handle.Map != nil {
		return report.CollectMap(ctx, waiting, o.streams, ui.New(o.streams.ErrOut, o.clock.Now), j, collection)
	}
	status, ended := j.Ended(ctx)
	if !ended || status.State != api.Succeeded || collection.Cleanup == report.KeepAll { // otherwise Collect deletes the workload, even if it holds hosts
		if status, err = j.Wait(waiting, o.tellWaiting(j)); err != nil {
			return report.Interrupted(o.streams.ErrOut, j, status.State, err)
		}
	}
	collection.Status = status
	if status.Reason == api.Cancelled && status.State != api.Succeeded {
		if stored, err := j.HasValue(ctx); err == nil && stored {
			return o.resultOfCancelled(ctx, j, collection)
		}
	}
	if status.State != api.Succeeded {
		raised := collection.SaveException(ctx, o.streams.ErrOut, j)
		return report.Settle(ctx, o.streams.ErrOut, j, report.End{Status: status, Pickle: raised})
	}
	defer report.TidyOutputs(ctx, o.streams.ErrOut, j)
	return report.Collect(ctx, o.streams, j, collection)
}

// resultOfCancelled prints the value of a job that was cancelled after its value was stored.
func (o *resultOptions) resultOfCancelled(ctx context.Context, j *job.Job, collection report.Collection) error {
	if collection.Cleanup == report.RemoveWorkload {
		collection.Cleanup = report.KeepAll
	}
	fmt.Fprintf(o.streams.ErrOut, "warning: job %s was cancelled after its value was stored\n", j.ID())
	return report.Collect(ctx, o.streams, j, collection)
}
