package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/outputs"
)

type cleanupFlags struct {
	workload, stored, outputs bool
	all                       bool
	status                    []string
	olderThan                 time.Duration
	yes, dryRun               bool
	output                    string
}

func (c *command) cleanup() *cobra.Command {
	f := &cleanupFlags{}
	own := cli.NewSection("Flags")
	own.Flags.BoolVar(&f.workload, "k8s", true, "Delete the workload; a running job is cancelled.")
	own.Flags.BoolVar(&f.stored, "gcs", true, "Delete the job's description (its handle), logs and result from the store.")
	own.Flags.BoolVar(&f.outputs, "outputs", false, "Also delete what the job wrote to KINETIC_OUTPUT_DIR.")
	own.Flags.BoolVar(&f.all, "all", false, "Clean up all jobs.")
	statusVar(own, &f.status, "Clean up all jobs with status `STATE`")
	cli.AgeVar(own.Flags, &f.olderThan, "older-than", "Clean up jobs submitted longer ago than this: 90m, 12h, 30d. Also deletes runners of old versions.")
	own.Flags.BoolVar(&f.dryRun, "dry-run", false, "Only print the jobs that would be cleaned up.")
	own.Flags.BoolVarP(&f.yes, "yes", "y", false, "Don't ask for confirmation.")
	own.FormatVar(&f.output, "Output `FORMAT`: json.", cli.JSON)
	return c.finish(&cobra.Command{
		Use:   "cleanup [ID…]",
		Short: "Delete jobs and their stored data",
		Example: "  # one job, including its outputs\n  kubectl kinetic jobs cleanup cpu-train --outputs\n\n" +
			"  # all ended jobs submitted more than a month ago\n  kubectl kinetic jobs cleanup --older-than 30d --status SUCCEEDED,FAILED,NOT_FOUND -y\n\n" +
			"  # the same for local jobs\n  kubectl kinetic jobs cleanup --older-than 30d --status SUCCEEDED,FAILED,NOT_FOUND -y --local\n\n" +
			"  # only print the jobs that would be cleaned up\n  kubectl kinetic jobs cleanup --all --dry-run",
		Args: func(_ *cobra.Command, args []string) error { return c.choice.CheckIDs(args) },
		RunE: runE(c, f.toOptions),
	}, own, c.choice.Section())
}

// cleanupOptions are the options of cleanup. It takes either IDs or filters.
type cleanupOptions struct {
	*command
	job.CleanupOptions
	named        bool
	args         []string
	all          bool
	filter       job.Filter // by --status
	olderThan    time.Duration
	yes, preview bool
	out          answers
}

func (f *cleanupFlags) toOptions(c *command, args []string) (*cleanupOptions, error) {
	filtered := f.all || len(f.status) > 0 || f.olderThan > 0 || c.choice.Any() && !c.choice.Last
	named := len(args) > 0 || c.choice.Last
	switch {
	case named && (filtered || len(args) > 0 && c.choice.Last):
		return nil, cli.Usagef("cleanup takes either IDs, or --last, or filters (--all, --status, --older-than, --mine, --selector)")
	case !named && !filtered:
		return nil, cli.Usagef("cleanup needs an ID, --last, or a filter: --all, --status, --older-than, --mine or --selector")
	case !f.workload && !f.stored && !f.outputs:
		return nil, cli.Usagef("--k8s=false and --gcs=false leave nothing to delete: omit one of them, or add --outputs")
	}
	filter, err := byStatus(f.status)
	if err != nil {
		return nil, err
	}
	return &cleanupOptions{command: c, CleanupOptions: job.CleanupOptions{Workload: f.workload, Stored: f.stored, Outputs: f.outputs}, named: named, args: args,
		all: f.all, filter: filter, olderThan: f.olderThan, yes: f.yes, preview: f.dryRun, out: answers{c.streams.Out, f.output == "json"}}, nil
}

func (o *cleanupOptions) run(ctx context.Context) error {
	if o.named {
		return o.cleanUpNamed(ctx)
	}
	registry, err := o.choice.Registry()
	if err != nil {
		return err
	}
	return o.sweep(ctx, registry)
}

// toCleanUp finds the jobs named by the arguments or by --last.
func (o *cleanupOptions) toCleanUp(ctx context.Context) ([]*job.Job, []error, error) {
	if o.choice.Last {
		return o.choice.Matching(ctx, job.Filter{})
	}
	return o.choice.JobsToDelete(ctx, o.args, job.FindOptions{})
}

// cleanUpNamed cleans up the jobs that the arguments name. It fails if one of several
// can't be found.
func (o *cleanupOptions) cleanUpNamed(ctx context.Context) error {
	jobs, failed, err := o.toCleanUp(ctx)
	if err != nil {
		return err
	}
	found, unread := o.look(ctx, jobs)
	failed = append(failed, unread...)
	if len(found) == 0 {
		return report.Errors(o.streams.ErrOut, len(o.args), failed)
	}
	report.PrintErrors(o.streams.ErrOut, failed)
	err = o.cleanUp(ctx, found)
	if err == nil && len(failed) > 0 {
		return cli.Exit(cli.ExitFailed)
	}
	return err
}

// sweep cleans up the jobs of a registry that the filters choose. It fails if it skipped
// some: no one reads the messages of a cron job.
func (o *cleanupOptions) sweep(ctx context.Context, registry job.Registry) error {
	found, complete, err := o.chosen(ctx, registry)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		err = o.cleanUp(ctx, found)
	} else {
		err = o.answer([]any{}, false)
	}
	if err == nil {
		err = o.removeRunners(ctx, registry)
	}
	if err == nil && !complete {
		return cli.Exit(cli.ExitFailed)
	}
	return err
}

// cleanUp removes parts of jobs, which were named or chosen by filters.
func (o *cleanupOptions) cleanUp(ctx context.Context, found []jobState) error {
	if err := o.keepNeeded(found); err != nil {
		return err
	}
	if o.preview {
		return o.printPreview(found)
	}
	if err := o.confirm(ctx, found); err != nil {
		return err
	}
	jobs, ended := make([]*job.Job, len(found)), map[*job.Job]bool{}
	for i, s := range found {
		jobs[i], ended[s.job] = s.job, s.status.State.Ended()
	}
	screen := ui.New(o.streams.ErrOut, o.clock.Now)
	removal := report.NewRemoval(screen)
	o.out.out = screen.Above(o.streams.Out)
	items, errs := o.out.forEach(jobs, func(j *job.Job) (answer, error) {
		if ctx.Err() != nil {
			return answer{}, errNotBegun
		}
		done, err := j.Cleanup(ctx, o.CleanupOptions, ended[j], removal.OfJob())
		if !o.Stored {
			done.Outputs = 0 // the job can still be found by its records
		}
		return answer{done.String() + staying(ctx, j, done.Outputs), cleaned{j.ID(), done}}, err
	})
	removal.Done()
	if err := o.answer(items, true); err != nil {
		return err
	}
	return o.settle(jobs, errs)
}

// cleaned is what cleanup prints about a job with -o json.
type cleaned struct {
	ID string `json:"id"`
	job.Cleaned
}

// answer prints items with -o json, and which parts of them were deleted or, if deleted is false, would be.
func (o *cleanupOptions) answer(items []any, deleted bool) error {
	return o.out.finish(items, map[string]any{"deleted": deleted, "parts": o.going()})
}

// staying says which outputs are left of a job whose records are gone, and how to remove them.
func staying(ctx context.Context, j *job.Job, left int) string {
	switch elsewhere, err := outputs.Of(j); {
	case left == 1:
		return "; 1 output kept; delete it with: " + j.RemovalOfOutputs(ctx)
	case left > 1:
		return fmt.Sprintf("; %s kept; delete them with: %s", human.Count(left, "output"), j.RemovalOfOutputs(ctx))
	case j.Handle.OutputDir != "" && err == nil:
		return "; the files in " + elsewhere.URL() + " are kept"
	default:
		return ""
	}
}

// removeRunners removes runners of old versions that no job needs.
func (o *cleanupOptions) removeRunners(ctx context.Context, registry job.Registry) error {
	if o.olderThan == 0 || !o.Workload || o.preview {
		return nil
	}
	removed, err := registry.Backend.RemoveRunners(ctx)
	for _, name := range removed {
		fmt.Fprintf(o.streams.ErrOut, "deleted ConfigMap %s: no job needs this version of the runner\n", name)
	}
	return err
}

// errNotBegun is the error of a job that still has everything after an interrupt.
var errNotBegun = fmt.Errorf("not started: %w", context.Canceled)

// settle reports the errors of a cleanup, one for each job or nil. After an interrupt it
// also says how to clean up the rest.
func (o *cleanupOptions) settle(jobs []*job.Job, errs []error) error {
	var failed []error
	var byID []string // jobs that the same command would not find
	interrupted := false
	for i, err := range errs {
		if err == nil {
			continue
		}
		if !errors.Is(err, context.Canceled) {
			failed = append(failed, err)
			continue
		}
		interrupted = true
		if o.named || o.losesSight() && !errors.Is(err, errNotBegun) {
			byID = append(byID, jobs[i].ID())
		}
	}
	if !interrupted {
		return report.Errors(o.streams.ErrOut, len(jobs), failed)
	}
	report.PrintErrors(o.streams.ErrOut, failed)
	fmt.Fprintln(o.streams.ErrOut, "interrupted; "+howToGoOn(o.named, byID))
	return cli.Exit(cli.ExitInterrupted)
}

// losesSight reports whether the same filters may not choose a partly removed job again:
// without its workload it has another state, and only its records say that it was cancelled.
func (o *cleanupOptions) losesSight() bool {
	if slices.Contains(o.filter.States, api.NotFound) {
		return false
	}
	return o.Workload && len(o.filter.States) > 0 || o.Stored && o.filter.Cancelled
}

// howToGoOn says how to clean up the rest after an interrupt. The id of a job that is gone would be an
// error, and with more states in the filter, other jobs would be removed too.
func howToGoOn(named bool, byID []string) string {
	ids := strings.Join(byID, " ")
	switch {
	case named:
		return "rerun the command with these IDs for the rest: " + ids
	case len(byID) > 0:
		return "rerun the command for the rest; these must now be named by ID: " + ids
	default:
		return "rerun the command for the rest"
	}
}

// jobState is a job with its status, empty if it was not read, and the time at which it
// was created.
type jobState struct {
	job     *job.Job
	status  api.Status
	created time.Time
}

const (
	// submitTime is how long a submit takes at most to write the handle after its first record, and to create the
	// workload after the handle. A job that has no handle by then is an orphan. A payload, and values of an older map,
	// get more time.
	submitTime = time.Minute
	// slowestUpload is the lowest rate of an upload, in bytes per second.
	slowestUpload = 50_000
	// slowestCopies is how many values of an older map a submit copies per second, at least.
	slowestCopies = 10
)

// chosen returns the jobs of a registry that the filters choose. complete says that none
// was skipped because it could not be read. If the cluster can't be read, that is an
// error: its jobs may still need records that look like orphans.
func (o *cleanupOptions) chosen(ctx context.Context, registry job.Registry) (found []jobState, complete bool, err error) {
	now := o.clock.Now()
	everything := o.all && !o.choice.Any()
	filter := o.filter
	filter.Stored, filter.Outputs, filter.Store = true, everything && o.Outputs, o.choice.StoreOf(registry)
	if err := o.choice.ApplyTo(&filter); err != nil {
		return nil, false, err
	}
	if everything {
		filter.Orphans = now.Add(-submitTime)
	}
	if o.olderThan > 0 {
		filter.Before = now.Add(-o.olderThan)
	}
	entries, err := registry.Entries(ctx, filter, api.ListStates)
	if err != nil && (len(entries) == 0 || registry.Kind != api.BackendLocal && errors.As(err, new(*job.UnreadError))) {
		return nil, false, err
	}
	switch {
	case err != nil:
		o.leaveAlone(err)
	case len(entries) == 0:
		fmt.Fprintln(o.streams.ErrOut, noJobs(filter, registry))
	}
	found, errs := parallel.Collect(job.Parallel, entries, func(e api.JobSummary) (jobState, error) { return o.open(ctx, registry, e) })
	for _, unopened := range errs {
		o.leaveAlone(unopened)
	}
	failed := slices.ContainsFunc(errs, func(err error) bool { return !errors.As(err, new(newError)) })
	return found, err == nil && !failed, nil
}

// leaveAlone reports jobs that are skipped because they could not be read.
func (o *cleanupOptions) leaveAlone(err error) {
	fmt.Fprintln(o.streams.ErrOut, "skipped: "+err.Error())
}

// look reads the states of jobs, if those matter. unread are the errors of jobs that
// can't be read.
func (o *cleanupOptions) look(ctx context.Context, jobs []*job.Job) (found []jobState, unread []error) {
	return parallel.Collect(job.Parallel, jobs, func(j *job.Job) (jobState, error) {
		s := jobState{job: j, created: j.Handle.CreatedAt}
		if o.yes && o.Workload && !o.preview {
			return s, nil
		}
		var err error
		if s.status, err = j.Status(ctx); err != nil {
			err = report.OfJob(j.ID(), err)
		}
		return s, err
	})
}

// keepNeeded refuses to remove the records or the outputs of a job that continues: no one could follow
// it or get its result, or its runner could save no more outputs.
func (o *cleanupOptions) keepNeeded(found []jobState) error {
	if o.Workload {
		return nil
	}
	needed := "records"
	if !o.Stored {
		needed = "outputs"
	}
	for _, s := range found {
		if !s.status.State.Ended() {
			return cli.Usagef("job %s is %s and needs its %s: cancel it first, or omit --k8s=false", s.job.ID(), s.status.State, needed)
		}
	}
	return nil
}
