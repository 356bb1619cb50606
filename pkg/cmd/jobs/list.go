package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

type listFlags struct {
	output    string
	status    []string
	watch     bool
	stored    bool
	sortBy    string
	limit     int
	noHeaders bool
	labels    []string
}

// listFormats are the values of --output, without custom-columns.
func listFormats() []string { return []string{"wide", resultsFormat, "json", "yaml", "name"} }

func (c *command) list() *cobra.Command {
	f := &listFlags{}
	own := cli.NewSection("Flags")
	own.Flags.BoolVarP(&c.choice.AllNamespaces, "all-namespaces", "A", false, "List jobs of all namespaces.")
	own.Flags.StringVarP(&f.output, "output", "o", "", "Output `FORMAT`: wide, results (arguments and values, also of jobs whose workload is gone), json, yaml, name, or custom-columns=HEADER:PATH,… with paths in the items of json.")
	own.Offer("output", append(listFormats(), customPrefix)...)
	own.Flags.StringSliceVarP(&f.labels, "label-columns", "L", nil, "Add a column for each of these labels: `KEYS`, with commas between them.")
	statusVar(own, &f.status, "Only jobs with status `STATE`")
	own.Flags.BoolVarP(&f.watch, "watch", "w", false, "Watch for changes after listing.")
	c.choice.FilterVars(own)
	own.Flags.StringVar(&f.sortBy, "sort-by", sortings()[0], "Sort by `COLUMN`: age (newest first), id, status or duration (longest first).")
	own.Offer("sort-by", sortings()...)
	own.Flags.BoolVar(&f.noHeaders, "no-headers", false, "Don't print column headers.")
	own.Flags.BoolVar(&f.stored, "all", false, "Include jobs whose workload is gone, as with --status NOT_FOUND.")
	cli.NumberVar(own.Flags, &f.limit, 0, cli.Unbounded, "limit", "Print only the first `NUMBER` jobs in the order of --sort-by.")
	sub := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List jobs, newest first",
		Example: "  # running jobs, and ended ones that were not collected\n  kubectl kinetic jobs list\n\n" +
			"  # IDs of failed jobs, one per line\n  kubectl kinetic jobs list --status FAILED -o name\n\n" +
			"  # who submitted each job, and why it waits or failed\n  kubectl kinetic jobs list -o wide\n\n" +
			"  # yours, with a label\n  kubectl kinetic jobs list --mine -l sweep=7\n\n" +
			"  # compare a sweep: arguments beside values\n  kubectl kinetic jobs list -l sweep=7 -o results\n\n" +
			"  # columns of your own\n  kubectl kinetic jobs list -o custom-columns=ID:.id,LR:.args.lr\n\n" +
			"  # local jobs\n  kubectl kinetic jobs list --local",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              runE(c, f.toOptions),
	}
	return c.finish(sub, own)
}

type listOptions struct {
	registry job.Registry
	filter   job.Filter
	level    api.ListLevel
	watch    bool
	sortBy   string
	limit    int // how many are printed; 0 is all
	errOut   io.Writer
	entryPrinter
}

func (f *listFlags) toOptions(c *command, _ []string) (*listOptions, error) {
	filter, err := byStatus(f.status)
	if err != nil {
		return nil, err
	}
	custom, err := f.check()
	if err != nil {
		return nil, err
	}
	registry, err := c.choice.Registry()
	if err != nil {
		return nil, cli.Usage(err)
	}
	stored := f.stored || f.output == resultsFormat || filter.Cancelled || slices.Contains(filter.States, api.NotFound)
	filter.Stored, filter.ByEnd, filter.Outputs, filter.Store = stored, f.stored, stored && f.output != resultsFormat, c.choice.StoreOf(registry)
	if f.sortBy == sortings()[0] {
		filter.Limit = f.limit // the records of older jobs are not read
	}
	if err := c.choice.ApplyTo(&filter); err != nil {
		return nil, cli.Usage(err)
	}
	level := api.ListReasons // also what only the handle of a local job has
	if f.output == "" || f.output == "name" {
		level = api.ListStates
	}
	return &listOptions{registry: registry, watch: f.watch, sortBy: f.sortBy, limit: f.limit, level: level, filter: filter, errOut: c.streams.ErrOut,
		entryPrinter: entryPrinter{output: f.output, meter: connect.NewMeter(c.choice.Connection, c.streams.ErrOut, c.clock.Now()), watched: f.watch, noHeaders: f.noHeaders, labels: f.labels, custom: custom, workloads: stored || f.watch, namespaces: c.choice.AllNamespaces && !c.choice.Local,
			now: func() time.Time { return registry.Time(c.clock.Now()) }, out: c.streams.Out, style: ui.Detect(c.streams.Out)}}, nil
}

func (f *listFlags) check() ([]customColumn, error) {
	var custom []customColumn
	if spec, found := strings.CutPrefix(f.output, customPrefix); found {
		var err error
		if custom, err = parseColumns(spec); err != nil {
			return nil, err
		}
	} else if f.output != "" {
		if err := cli.OneOf("--output", f.output, append(listFormats(), customPrefix+"…")); err != nil {
			return nil, err
		}
	}
	if err := cli.OneOf("--sort-by", f.sortBy, sortings()); err != nil {
		return nil, err
	}
	if f.watch && f.sortBy != sortings()[0] {
		return nil, cli.Usagef("--watch cannot be combined with --sort-by")
	}
	if f.watch && (f.output == "json" || f.output == "yaml" || f.output == resultsFormat) {
		return nil, cli.Usagef("--watch cannot be combined with --output %s: use wide or name", f.output)
	}
	if len(f.labels) > 0 && (custom != nil || slices.Contains([]string{"json", "yaml", "name"}, f.output)) {
		return nil, cli.Usagef("--label-columns cannot be combined with --output %s", f.output)
	}
	return custom, nil
}

func (o *listOptions) run(ctx context.Context) error {
	if o.watch {
		err := o.registry.WatchEntries(ctx, o.filter, o.level, func(entries []api.JobSummary) error {
			err := o.print(entries)
			o.release(ctx, entries)
			return err
		})
		if ctx.Err() != nil {
			return cli.Exit(cli.ExitInterrupted)
		}
		return err
	}
	entries, unread := o.registry.Entries(ctx, o.filter, o.level)
	if len(entries) == 0 && unread != nil {
		return unread
	}
	if len(entries) == 0 && o.isTable() {
		_, err := fmt.Fprintln(o.errOut, noJobs(o.filter, o.registry).Error()+endedHint(ctx, o.registry, o.filter, "add --all")+localHint(o.registry))
		return err
	}
	o.sort(entries)
	if o.limit > 0 && len(entries) > o.limit {
		entries = entries[:o.limit]
	}
	err := o.show(ctx, entries)
	o.release(ctx, entries)
	return errors.Join(err, unread)
}

func (o *listOptions) show(ctx context.Context, entries []api.JobSummary) error {
	if o.output == resultsFormat {
		return o.results(ctx, entries)
	}
	return o.print(entries)
}

// sortings are the values of --sort-by. The first is the default.
func sortings() []string { return []string{"age", "id", "status", "duration"} }

// sort sorts jobs by --sort-by. Equal ones stay as they are, newest first.
func (o *listOptions) sort(entries []api.JobSummary) {
	slices.SortStableFunc(entries, func(a, b api.JobSummary) int {
		switch o.sortBy {
		case "id":
			return cmp.Compare(a.ID, b.ID)
		case "status":
			return cmp.Compare(a.Word(), b.Word())
		case "duration":
			return cmp.Compare(o.ran(b.Status), o.ran(a.Status))
		default:
			return 0
		}
	})
}

// release frees the hosts of jobs that have ended and still hold them, after the list has
// shown them.
func (o *listOptions) release(ctx context.Context, entries []api.JobSummary) {
	parallel.Each(job.Parallel, entries, func(_ int, e api.JobSummary) {
		if !holds(e) {
			return
		}
		j, err := o.registry.Open(ctx, e)
		if err != nil {
			fmt.Fprintf(o.errOut, "warning: %v\n", err)
			return
		}
		report.Release(ctx, o.errOut, j, e.Status)
	})
}

// endedHint returns how many jobs have ended that no workload shows, and how to see them, for an empty list of jobs.
func endedHint(ctx context.Context, registry job.Registry, filter job.Filter, how string) string {
	if filter.Stored {
		return ""
	}
	n, unsure := registry.Ended(ctx, filter)
	switch {
	case n == 0 && unsure:
		return "; for those that have ended: " + how
	case n == 0:
		return ""
	case n == 1 && !unsure:
		return "; 1 has ended: " + how
	case unsure:
		return fmt.Sprintf("; at least %d have ended: %s", n, how)
	default:
		return fmt.Sprintf("; %d have ended: %s", n, how)
	}
}

// localHint returns how many local jobs there are, for an empty list of a cluster's jobs.
func localHint(registry job.Registry) string {
	if registry.Kind == api.BackendLocal {
		return ""
	}
	switch n := backend.LocalJobs(); n {
	case 0:
		return ""
	case 1:
		return "; 1 local job exists: add --local"
	default:
		return fmt.Sprintf("; %s exist: add --local", human.Count(n, "local job"))
	}
}
