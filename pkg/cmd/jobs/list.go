package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/nearest"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

type listFlags struct {
	allNamespaces bool
	output        string
	states        []string
	watch         bool
	stored        bool
	limit         int
}

func (c *command) list() *cobra.Command {
	f := &listFlags{}
	own := cli.NewSection("Flags")
	own.Flags.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "Jobs of all namespaces.")
	own.Flags.StringVarP(&f.output, "output", "o", "", "The `FORMAT`: wide, json, yaml or name.")
	own.Flags.StringSliceVar(&f.states, "status", nil, "Only jobs in this `STATE`: "+stateNames()+".")
	own.Flags.BoolVarP(&f.watch, "watch", "w", false, "Go on and print every change.")
	own.Flags.BoolVar(&f.stored, "all", false, "Also jobs of which only the store tells any more.")
	cli.CountVar(own.Flags, &f.limit, "limit", "", "Print at most this many, the newest.")
	sub := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List jobs, the newest first",
		Example: "  # what runs, and what waits to be collected\n  kubectl kinetic jobs list --local\n\n" +
			"  # ids of failed jobs, one a line\n  kubectl kinetic jobs list --local --status FAILED -o name",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: cli.RunE(func(ctx context.Context, _ []string) error {
			o, err := f.toOptions(c)
			if err != nil {
				return cli.Usage(err)
			}
			return o.run(ctx)
		}),
	}
	return c.finish(sub, own)
}

func stateNames() string {
	var names []string
	for _, s := range api.States() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// parseStates reads the values of --status, in any case.
func parseStates(words []string) ([]api.State, error) {
	var states []api.State
	for _, w := range words {
		s := api.State(strings.ToUpper(w))
		if !slices.Contains(api.States(), s) {
			msg := fmt.Sprintf("--status %q: want one of %s", w, stateNames())
			if near := nearest.Sentence(w, strings.Split(stateNames(), ", ")); near != "" {
				msg += "; " + near
			}
			return nil, cli.Usagef("%s", msg)
		}
		states = append(states, s)
	}
	return states, nil
}

type listOptions struct {
	place  job.Place
	filter job.Filter
	output string
	watch  bool
	// namespaces is for a column that tells them.
	namespaces bool
	now        func() time.Time
	out        io.Writer
	errOut     io.Writer
}

func (f *listFlags) toOptions(c *command) (*listOptions, error) {
	states, err := parseStates(f.states)
	if err != nil {
		return nil, err
	}
	if valid := []string{"", "wide", "json", "yaml", "name"}; !slices.Contains(valid, f.output) {
		return nil, fmt.Errorf("--output %q: want one of %s", f.output, strings.Join(valid[1:], ", "))
	}
	if f.watch && (f.output == "json" || f.output == "yaml") {
		return nil, fmt.Errorf("--watch prints a table or names, not %s", f.output)
	}
	place, err := c.placeOf(f.allNamespaces)
	if err != nil {
		return nil, err
	}
	return &listOptions{place: place, output: f.output, watch: f.watch, namespaces: f.allNamespaces && !c.local, now: c.clock.Now,
		filter: job.Filter{States: states, Stored: f.stored, Limit: f.limit},
		out:    c.streams.Out, errOut: c.streams.ErrOut}, nil
}

func (o *listOptions) run(ctx context.Context) error {
	entries, unread := o.place.Entries(ctx, o.filter)
	if len(entries) == 0 && unread != nil {
		return unread
	}
	if len(entries) == 0 && (o.output == "" || o.output == "wide") && !o.watch {
		_, err := fmt.Fprintln(o.errOut, "no jobs found")
		return err
	}
	if err := errors.Join(o.print(entries, true), unread); err != nil || !o.watch {
		return err
	}
	return o.follow(ctx)
}

func (o *listOptions) print(entries []job.Entry, headers bool) error {
	switch o.output {
	case "json":
		return printJSON(o.out, map[string]any{"items": entries})
	case "yaml":
		data, err := yaml.Marshal(map[string]any{"items": entries})
		if err != nil {
			return err
		}
		_, err = o.out.Write(data)
		return err
	case "name":
		for _, e := range entries {
			if _, err := fmt.Fprintln(o.out, e.ID); err != nil {
				return err
			}
		}
		return nil
	default:
		return o.table(entries, headers)
	}
}

func (o *listOptions) table(entries []job.Entry, headers bool) error {
	columns := []string{"id", "status", "function", "accelerator", "age", "duration"}
	if o.namespaces {
		columns = append([]string{"namespace"}, columns...)
	}
	if o.output == "wide" {
		columns = append(columns, "outcome", "store")
	}
	if !headers {
		columns = nil
	}
	t := ui.NewTable(o.out, columns...)
	for _, e := range entries {
		row := []string{e.Namespace, e.ID, string(e.State), e.Function, e.Accelerator, ui.Age(e.Created, o.now()), o.took(e.Status)}
		if !o.namespaces {
			row = row[1:]
		}
		if o.output == "wide" {
			row = append(row, job.Outcome(e.Status), e.Store)
		}
		t.Row(row...)
	}
	return t.Flush()
}

// took is how long a job has been running, or ran.
func (o *listOptions) took(s api.Status) string {
	end := s.Finished
	if end.IsZero() {
		end = o.now()
	}
	if s.Started.IsZero() {
		return ""
	}
	return ui.Took(end.Sub(s.Started))
}

// follow prints a line for every job that appears or changes its state, also
// for one that leaves the states that were asked for.
func (o *listOptions) follow(ctx context.Context) error {
	every := o.filter
	every.States = nil
	entries, err := o.place.Entries(ctx, every)
	if err != nil {
		return err
	}
	changes := time.NewTicker(watchEvery)
	defer changes.Stop()
	for {
		select {
		case <-ctx.Done():
			return cli.Exit(cli.ExitInterrupted)
		case <-changes.C:
		}
		next, err := o.place.Entries(ctx, every)
		if err != nil {
			return err
		}
		if err := o.print(changed(entries, next, o.filter.States), false); err != nil {
			return err
		}
		entries = next
	}
}

// watchEvery is how often local jobs are looked at: the kernel tells nobody
// about processes that aren't one's own children.
const watchEvery = 200 * time.Millisecond

// changed are the jobs whose state is another than before; wanted, when it is
// not empty, has one of the two.
func changed(before, after []job.Entry, wanted []api.State) []job.Entry {
	states := make(map[string]api.State, len(before))
	for _, e := range before {
		states[e.ID] = e.State
	}
	return slices.DeleteFunc(slices.Clone(after), func(e job.Entry) bool {
		was := states[e.ID]
		return was == e.State || len(wanted) > 0 && !slices.Contains(wanted, was) && !slices.Contains(wanted, e.State)
	})
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
