package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/choice"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/fanout"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

type listFlags struct {
	allNamespaces bool
	output        string
	status        []string
	watch         bool
	stored        bool
	limit         int
	noHeaders     bool
}

func (c *command) list() *cobra.Command {
	f := &listFlags{}
	own := process.NewSection("Flags")
	own.Flags.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "List jobs of all namespaces.")
	own.Flags.StringVarP(&f.output, "output", "o", "", "Output `FORMAT`: wide, json, yaml or name.")
	choice.StatusVar(&own, &f.status, "Only jobs with status `STATE`")
	own.Flags.BoolVarP(&f.watch, "watch", "w", false, "Watch for changes after listing.")
	c.choice.FilterVars(own)
	own.Flags.BoolVar(&f.noHeaders, "no-headers", false, "Don't print column headers.")
	own.Flags.BoolVar(&f.stored, "all", false, "Include jobs whose workload is gone, as with --status NOT_FOUND.")
	process.NumberVar(own.Flags, &f.limit, 0, process.Unbounded, "limit", "Print only this many jobs, the newest.")
	sub := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List jobs, newest first",
		Example: "  # running jobs, and ended ones that were not collected\n  kubectl kinetic jobs list\n\n" +
			"  # IDs of failed jobs, one per line\n  kubectl kinetic jobs list --status FAILED -o name\n\n" +
			"  # who submitted each job, and why it waits or failed\n  kubectl kinetic jobs list -o wide\n\n" +
			"  # yours, with a label\n  kubectl kinetic jobs list --mine -l sweep=7\n\n" +
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
	errOut   io.Writer
	entryPrinter
}

func (f *listFlags) toOptions(c *command, _ []string) (*listOptions, error) {
	filter, err := choice.ByStatus(f.status)
	if err != nil {
		return nil, err
	}
	if err := checkFormat(f.output, "wide", "json", "yaml", "name"); err != nil {
		return nil, err
	}
	if f.watch && (f.output == "json" || f.output == "yaml") {
		return nil, process.Usagef("--watch cannot be combined with --output %s: use wide or name", f.output)
	}
	registry, err := c.choice.RegistryOf(f.allNamespaces)
	if err != nil {
		return nil, process.Usage(err)
	}
	stored := f.stored || filter.Cancelled || slices.Contains(filter.States, api.NotFound)
	filter.Stored, filter.Outputs, filter.Limit = stored, stored, f.limit
	if err := c.choice.Narrow(&filter); err != nil {
		return nil, process.Usage(err)
	}
	return &listOptions{registry: registry, watch: f.watch, level: f.level(), filter: filter, errOut: c.streams.ErrOut,
		entryPrinter: entryPrinter{output: f.output, watched: f.watch, noHeaders: f.noHeaders, workloads: stored || f.watch, namespaces: f.allNamespaces && !c.choice.Local,
			now: func() time.Time { return registry.Time(c.clock.Now()) }, out: c.streams.Out, style: ui.Detect(c.streams.Out)}}, nil
}

// level is what has to be read for what will be printed.
func (f *listFlags) level() api.ListLevel {
	switch f.output {
	case "wide", "json", "yaml":
		return api.ListReasons
	default:
		return api.ListStates
	}
}

func (o *listOptions) run(ctx context.Context) error {
	if o.watch {
		err := o.registry.WatchEntries(ctx, o.filter, o.level, func(entries []api.JobSummary) error {
			err := o.print(entries)
			o.release(ctx, entries)
			return err
		})
		if ctx.Err() != nil {
			return process.Exit(process.ExitInterrupted)
		}
		return err
	}
	entries, unread := o.registry.Entries(ctx, o.filter, o.level)
	if len(entries) == 0 && unread != nil {
		return unread
	}
	if len(entries) == 0 && o.isTable() {
		_, err := fmt.Fprintln(o.errOut, job.ErrNoJob.Error()+choice.Where(o.registry)+localHint(o.registry))
		return err
	}
	err := o.print(entries)
	o.release(ctx, entries)
	return errors.Join(err, unread)
}

// release frees the hosts of jobs that have ended and still hold them, after a list
// that has told so.
func (o *listOptions) release(ctx context.Context, entries []api.JobSummary) {
	fanout.Each(atATime, entries, func(_ int, e api.JobSummary) {
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

// localHint says how many local jobs there are, for a list of a cluster's jobs that is empty.
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
		return fmt.Sprintf("; %s exist: add --local", ui.Count(n, "local job"))
	}
}

// entryPrinter writes lists of jobs in one of the forms of --output.
type entryPrinter struct {
	output string
	// namespaces is for a column that says them.
	namespaces bool
	// watched keeps room for longer rows that may come.
	watched bool
	// noHeaders leaves out the line with the columns' names.
	noHeaders bool
	now       func() time.Time
	out       io.Writer
	style     ui.Style
	table     *ui.Table // made with the first row
	// outcomes is for a column of them in a plain list, where a job holds its hosts
	// though it has ended.
	outcomes bool
	// workloads is for a column that reports each job whether its workload is there.
	workloads bool
}

func (p *entryPrinter) isTable() bool { return p.output == "" || p.output == "wide" }

func (p *entryPrinter) print(entries []api.JobSummary) error {
	switch p.output {
	case "json":
		return printJSON(p.out, map[string]any{"items": listed(entries)})
	case "yaml":
		data, err := yaml.Marshal(map[string]any{"items": listed(entries)})
		if err != nil {
			return err
		}
		_, err = p.out.Write(data)
		return err
	case "name":
		for _, e := range entries {
			if _, err := fmt.Fprintln(p.out, e.ID); err != nil {
				return err
			}
		}
		return nil
	default:
		return p.rows(entries)
	}
}

// listed are the entries as programs read them: none are an empty list, not null.
func listed(entries []api.JobSummary) []api.JobSummary { return append([]api.JobSummary{}, entries...) }

// rows adds rows to the table; the first ones come below its headers.
func (p *entryPrinter) rows(entries []api.JobSummary) error {
	if len(entries) == 0 {
		return nil
	}
	if p.table == nil {
		p.outcomes = p.output == "wide" || slices.ContainsFunc(entries, holds)
		columns := p.columns()
		if p.noHeaders {
			columns = nil
		}
		p.table = ui.NewTable(p.out, columns...)
	}
	for _, e := range entries {
		if e.Word() == string(api.Failed) {
			p.table.Highlight(p.style, api.Failed)
		}
		p.table.Row(p.row(e)...)
	}
	return p.table.Flush()
}

// holds reports a job that has ended and still holds its hosts.
func holds(e api.JobSummary) bool { return e.Status.UnreleasedHosts != "" }

// usualID is the length of most ids: the time and the digits that make one unique are
// 23 characters of it.
const usualID = 40

func (p *entryPrinter) columns() []string {
	id, status := "id", "status"
	if p.watched {
		id, status = fmt.Sprintf("%-*s", usualID, id), fmt.Sprintf("%-*s", len(api.Succeeded), status)
	}
	columns := []string{id, status, "function", "accelerator", "age", "duration"}
	if p.namespaces {
		columns = append([]string{"namespace"}, columns...)
	}
	if p.workloads {
		columns = append(columns, "workload")
	}
	if p.output == "wide" {
		columns = append(columns, "owner", "hosts", "node", "store")
	}
	if p.outcomes {
		columns = append(columns, "outcome")
	}
	return columns
}

func (p *entryPrinter) row(e api.JobSummary) []string {
	row := []string{e.ID, e.Word(), e.Function, e.Accelerator, ui.Age(e.Created, p.now()), p.took(e.Status)}
	if p.namespaces {
		row = append([]string{e.Namespace}, row...)
	}
	if p.workloads {
		row = append(row, workload(e))
	}
	if p.output == "wide" {
		row = append(row, e.User, known(e.Hosts), e.Node, e.Store)
	}
	if p.outcomes || holds(e) { // in a watch it may be the first such job
		row = append(row, e.Status.Outcome())
	}
	return row
}

// workload says whether that of a job is there, and if not whether it was collected.
func workload(e api.JobSummary) string {
	switch {
	case e.State != api.NotFound:
		return "exists"
	case e.Status.Collected:
		return "collected"
	default:
		return "gone"
	}
}

// known spells a number, "" for 0.
func known(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// took is how long a job has been running, or ran.
func (p *entryPrinter) took(s api.Status) string {
	end := s.Finished
	if end.IsZero() {
		end = p.now()
	}
	if s.Started.IsZero() {
		return ""
	}
	return ui.Took(end.Sub(s.Started))
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
