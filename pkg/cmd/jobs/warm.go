package jobs

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func (c *command) warm() *cobra.Command {
	var o warmOptions
	own := cli.NewSection("Flags")
	own.Flags.BoolVar(&o.end, "end", false, "End the hosts, and the calls that run on them.")
	own.Flags.BoolVar(&o.mine, "mine", false, "Only the hosts that you started.")
	own.FormatVar(&o.output, "Output `FORMAT`: json or name.", cli.JSON, "name")
	return c.finish(&cobra.Command{
		Use:   "warm [ID…]",
		Short: "List or end warm hosts, which take further calls",
		Long: "List or end warm hosts: pods that stay after a call of `run --keep-warm` and take\n" +
			"further calls. jobs list shows these calls, not the hosts.",
		Example: "  kubectl kinetic jobs warm\n\n" +
			"  # end all that you started\n  kubectl kinetic jobs warm --end --mine",
		ValidArgsFunction: c.completeWarm,
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			if c.choice.Local {
				return cli.Usagef("--local: this machine has no warm hosts, only clusters do")
			}
			if o.end && len(args) == 0 && !o.mine {
				return cli.Usagef("--end: which hosts? Name their IDs, or add --mine")
			}
			for _, word := range args {
				if !job.CanBeID(word) {
					return cli.Usagef("%q is not the ID of a warm host; list them with kubectl kinetic jobs warm", word)
				}
			}
			return c.runWarm(ctx, args, o)
		}),
	}, own)
}

type warmOptions struct {
	end, mine bool
	output    string
}

// warmItem is a warm host as a list shows it.
type warmItem struct {
	ID          string    `json:"id"`
	Namespace   string    `json:"namespace"`
	Accelerator string    `json:"accelerator"`
	Owner       string    `json:"owner"`
	Created     time.Time `json:"created"`
	State       api.State `json:"state"`
	// Calls is how many calls it has taken, Current the ID of the one that runs, IdleSeconds for how long none has run, EndsInSeconds in how
	// many it ends if none comes. They are null for a host that can't be asked.
	Calls         *int        `json:"calls"`
	Current       string      `json:"current,omitempty"`
	IdleSeconds   *float64    `json:"idleSeconds"`
	EndsInSeconds *float64    `json:"endsInSeconds"`
	Cost          *price.Cost `json:"cost,omitempty"`

	host kube.WarmHost
}

// completeWarm completes the IDs of warm hosts, and shows the accelerator, the owner and the age of each.
func (c *command) completeWarm(sub *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	hosts, err := cli.Promptly(sub.Context(), func(ctx context.Context) ([]kube.WarmHost, error) {
		_, hosts, err := c.warmHosts(ctx)
		return hosts, err
	})
	if err != nil {
		return nil, directive
	}
	var ids []string
	for _, h := range hosts {
		if strings.HasPrefix(h.ID, word) && !slices.Contains(args, h.ID) {
			ids = append(ids, cobra.CompletionWithDesc(h.ID, fmt.Sprintf("%s, of %s, %s", h.Accelerator, h.Owner, ui.Age(h.Created, c.clock.Now()))))
		}
	}
	return ids, directive
}

func (c *command) warmHosts(ctx context.Context) (*kube.Cluster, []kube.WarmHost, error) {
	where, err := c.choice.Connection.ResolveJobs()
	if err != nil {
		return nil, nil, cli.Usage(err)
	}
	cluster, err := backend.Cluster(c.choice.Connection, where, where.Namespace)
	if err != nil {
		return nil, nil, err
	}
	hosts, err := cluster.WarmHosts(ctx)
	return cluster, hosts, err
}

func (c *command) runWarm(ctx context.Context, words []string, o warmOptions) error {
	cluster, hosts, err := c.warmHosts(ctx)
	if err != nil {
		return err
	}
	if hosts, err = chooseHosts(hosts, words, o.mine); err != nil {
		return err
	}
	if err := cluster.DeleteEndedWarmSets(ctx, job.CurrentUser()); err != nil {
		fmt.Fprintf(c.streams.ErrOut, "warning: could not delete warm hosts that have ended: %v\n", err)
	}
	if o.end {
		return c.endHosts(ctx, cluster, hosts, o.output)
	}
	return c.listHosts(ctx, cluster, hosts, o.output)
}

// chooseHosts returns the hosts that words name, as those of jobs: whole IDs, prefixes or the digits at their ends. Without words it returns all.
func chooseHosts(all []kube.WarmHost, words []string, mine bool) ([]kube.WarmHost, error) {
	if mine {
		user := job.CurrentUser()
		if user == "" {
			return nil, cli.Usagef("--mine: the name of your account on this machine is unknown")
		}
		all = slices.DeleteFunc(all, func(h kube.WarmHost) bool { return h.Owner != user })
	}
	if len(words) == 0 {
		return all, nil
	}
	byID := map[string]kube.WarmHost{}
	for _, h := range all {
		byID[h.ID] = h
	}
	ids := slices.Sorted(maps.Keys(byID))
	var chosen []kube.WarmHost
	for _, word := range words {
		switch found := job.Matching(word, ids); len(found) {
		case 0:
			return nil, cli.Usagef("no warm host %s; list them with kubectl kinetic jobs warm", word)
		case 1:
			chosen = append(chosen, byID[found[0]])
		default:
			return nil, cli.Usagef("%d warm hosts match %s; use the whole ID", len(found), word)
		}
	}
	return chosen, nil
}

// patience is how long a host has to tell which call it runs before it is ended. Then the store is asked, which takes longer.
const patience = 3 * time.Second

func (c *command) endHosts(ctx context.Context, cluster *kube.Cluster, hosts []kube.WarmHost, output string) error {
	errs, calls := make([]error, len(hosts)), make([][]string, len(hosts))
	jobs := warm.Backend{Backend: cluster, OpenStore: store.Open}
	parallel.Each(job.Parallel, hosts, func(i int, host kube.WarmHost) {
		var state *warm.State
		asking, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if s, err := stateOf(asking, cluster, host); err == nil {
			state = &s
		}
		ended, err := jobs.EndHost(ctx, host.Handle, state, c.clock.Now())
		calls[i], errs[i] = ended, report.OfJob(host.ID, err)
	})
	ended := []string{}
	for i, host := range hosts {
		if errs[i] != nil {
			continue
		}
		ended = append(ended, host.ID)
		switch output {
		case "":
			fmt.Fprintln(c.streams.Out, host.ID, "ended")
		case "name":
			fmt.Fprintln(c.streams.Out, host.ID)
		}
		for _, call := range calls[i] {
			fmt.Fprintf(c.streams.ErrOut, "job %s was cancelled: it was running on %s\n", call, host.ID)
		}
	}
	if output == "json" {
		if err := cli.Write(c.streams.Out, cli.JSON, map[string]any{"items": ended}); err != nil {
			return err
		}
	}
	if len(hosts) == 0 {
		fmt.Fprintln(c.streams.ErrOut, "no warm hosts")
	}
	return report.Errors(c.streams.ErrOut, len(hosts), errs)
}

// stateOf asks a host's first pod what it does, until the context ends.
func stateOf(ctx context.Context, cluster *kube.Cluster, host kube.WarmHost) (warm.State, error) {
	conn, err := backend.DialWarm(ctx, cluster, host, 0)
	if err != nil {
		return warm.State{}, err
	}
	defer func() { _ = conn.Close() }()
	return conn.State(ctx)
}

func (c *command) listHosts(ctx context.Context, cluster *kube.Cluster, hosts []kube.WarmHost, output string) error {
	meter := connect.NewMeter(c.choice.Connection, c.streams.ErrOut, c.clock.Now())
	items := make([]warmItem, len(hosts))
	parallel.Each(job.Parallel, hosts, func(i int, host kube.WarmHost) {
		item := warmItem{ID: host.ID, Namespace: host.Namespace, Accelerator: host.Accelerator, Owner: host.Owner, Created: host.Created, State: host.State,
			Cost: meter.OfSummary(host.JobSummary), host: host}
		if s, err := stateOf(ctx, cluster, host); err == nil {
			item.Calls, item.Current, item.EndsInSeconds = &s.Calls, s.Current, &s.Ends
			if s.Current == "" {
				item.IdleSeconds = &s.Idle
			}
		}
		items[i] = item
	})
	switch output {
	case "json":
		return cli.Write(c.streams.Out, cli.JSON, map[string]any{"items": items})
	case "name":
		for _, item := range items {
			fmt.Fprintln(c.streams.Out, item.ID)
		}
		return nil
	}
	if len(items) == 0 {
		fmt.Fprintln(c.streams.ErrOut, "no warm hosts; start one with kubectl kinetic run TARGET --keep-warm 10m")
		return nil
	}
	return warmTable(c.streams.Out, ui.Detect(c.streams.Out), items, c.clock.Now())
}

// runs is what is in the column of the idle time while a call runs, before its ID.
const runs = "runs "

func warmTable(w io.Writer, style ui.Style, items []warmItem, now time.Time) error {
	t := ui.NewFitted(w, style, true, ui.Column{Header: "id", Short: store.ShortID}, ui.Column{Header: "accelerator", Varies: true}, ui.Column{Header: "owner", Varies: true},
		ui.Column{Header: "age"}, ui.Column{Header: "calls"}, ui.Column{Header: "idle", Short: shortRuns}, ui.Column{Header: "ends in"}, ui.Column{Header: "cost"})
	for _, item := range items {
		calls, idle, ends := "", strings.ToLower(string(item.State)), ""
		if item.Calls != nil {
			calls, ends, idle = fmt.Sprint(*item.Calls), shortSeconds(item.EndsInSeconds), shortSeconds(item.IdleSeconds)
		}
		if item.Current != "" {
			idle, ends = runs+item.Current, ""
		}
		t.Row(item.ID, item.Accelerator, item.Owner, ui.Age(item.Created, now), calls, idle, ends, item.Cost.Cell())
	}
	return t.Flush()
}

func shortRuns(cell string) string {
	if id, isID := strings.CutPrefix(cell, runs); isID {
		return runs + store.ShortID(id)
	}
	return cell
}

// shortSeconds formats seconds as kubectl formats ages.
func shortSeconds(n *float64) string {
	if n == nil {
		return ""
	}
	return duration.HumanDuration(time.Duration(*n * float64(time.Second)))
}
