package pool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

const listLong = `List the node pools of the cluster, with their current nodes and the jobs that use their
chips. FREE is the number of chips that no pod uses. USD/H is the list price of the
current nodes.`

const listExamples = `  kubectl kinetic pool list

  # all jobs, machine types, zones
  kubectl kinetic pool list -o wide

  # pools that cost money although no job uses them
  kubectl kinetic pool list -o json | jq -r '.pools[] | select(.nodes > 0 and .jobs == []) | .name'`

func (c *command) list() *cobra.Command {
	output, noHeaders := "", false
	own := cli.NewSection("Flags")
	own.FormatVar(&output, "Output `FORMAT`: wide, json, yaml or name.", append(cli.Formats(), "wide", "name")...)
	own.Flags.BoolVar(&noHeaders, "no-headers", false, "Don't print column headers.")
	return c.finish(&cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List node pools, and what uses them", Long: listLong, Example: listExamples,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: cli.RunE(func(ctx context.Context, _ []string) error {
			cluster, t, err := c.cluster()
			if err != nil {
				return err
			}
			o := listOptions{command: c, cluster: cluster, target: t, prices: connect.Prices(c.Streams.ErrOut), output: output, noHeaders: noHeaders}
			return o.run(ctx)
		}),
	}, own)
}

type listOptions struct {
	*command
	cluster   gke.Cluster
	target    config.Target
	prices    price.Table
	output    string
	noHeaders bool
	autopilot bool // GKE manages the nodes
}

// row is a node pool. What is not known is nil.
type row struct {
	Name        string           `json:"name"`
	Accelerator *api.Accelerator `json:"accelerator"`
	Spot        bool             `json:"spot"`
	Reservation string           `json:"reservation,omitempty"`
	FlexStart   bool             `json:"flexStart,omitempty"`
	Queued      bool             `json:"queued,omitempty"`
	Sharing     string           `json:"sharing,omitempty"` // of each GPU by several pods
	capacity    string           // the same in a word
	MachineType string           `json:"machineType"`
	// MaxRunDuration is how long after its start GKE deletes a node, in seconds: "86400s".
	MaxRunDuration string        `json:"maxRunDuration,omitempty"`
	lifetime       string        // the same for people
	Zones          []string      `json:"zones"`
	Nodes          *int          `json:"nodes"`
	MinNodes       int           `json:"minNodes"`
	MaxNodes       int           `json:"maxNodes"`
	FreeChips      *int          `json:"freeChips"`
	Jobs           []joblist.Ref `json:"jobs"`
	// PricePerHour is the list price in USD of the nodes that there are now, and
	// NodePricePerHour of one.
	PricePerHour     *float64 `json:"pricePerHour"`
	NodePricePerHour *float64 `json:"nodePricePerHour"`
	PriceBasis       string   `json:"priceBasis,omitempty"`
	Status           string   `json:"status"`
	StatusMessage    string   `json:"statusMessage,omitempty"`
}

// run asks GKE and the cluster at the same time.
func (o *listOptions) run(ctx context.Context) error {
	client, err := o.client(ctx, o.cluster)
	if err != nil {
		return err
	}
	var used map[string]joblist.Pool
	var notKnown error
	var asked sync.WaitGroup
	if o.output != "name" {
		asked.Go(func() { used, notKnown = o.occupied(ctx, o.target) })
	}
	found, err := client.Get(ctx)
	if err != nil {
		return err
	}
	asked.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if notKnown != nil {
		fmt.Fprintf(o.Streams.ErrOut, "warning: nodes and jobs are not known: %s\n", ui.Clean(notKnown.Error()))
	}
	rows := make([]row, 0, len(found.NodePools))
	for _, p := range found.NodePools {
		rows = append(rows, o.newRow(p, used))
	}
	o.autopilot = gke.IsAutopilot(found)
	return o.print(rows)
}

// occupied returns what uses the pools. It asks the cluster.
func (c *command) occupied(ctx context.Context, t config.Target) (map[string]joblist.Pool, error) {
	get := fmt.Sprintf("get one with: gcloud container clusters get-credentials %s --location=%s --project=%s", t.Cluster, t.Zone, t.Project)
	switch {
	case t.Context == "" && t.From.Context == "":
		return nil, fmt.Errorf("the kubeconfig has no context for the cluster: %s", get)
	case t.Assumed:
		return nil, fmt.Errorf("nothing shows that the current context %s is for cluster %s: name its context with --context, or %s", t.Context, t.Cluster, get)
	}
	config, err := c.Connection.REST(t)
	if err != nil {
		return nil, err
	}
	return joblist.ReadUsage(ctx, config, c.Connection.Notice)
}

// newRow describes a pool. used is nil if it is not known.
func (o *listOptions) newRow(p *container.NodePool, used map[string]joblist.Pool) row {
	limits := gke.Limits(p)
	r := row{Name: p.Name, Zones: p.Locations, MinNodes: limits.Min, MaxNodes: limits.Max, Status: p.Status, StatusMessage: p.StatusMessage, Jobs: []joblist.Ref{}}
	if p.Config != nil {
		r.MachineType, r.Spot, r.FlexStart = p.Config.MachineType, p.Config.Spot || p.Config.Preemptible, p.Config.FlexStart
		r.MaxRunDuration, r.lifetime = p.Config.MaxRunDuration, gke.Lifetime(p)
	}
	r.capacity, r.Queued, r.Sharing = gke.CapacityWords(p), gke.IsQueued(p), gke.Sharing(p)
	if reserved, ok := gke.Reservation(p); ok {
		r.Reservation = reserved.Name
	}
	a, known := gke.Shape(p)
	if known {
		r.Accelerator = &a
	}
	r.NodePricePerHour, r.PriceBasis = gke.NodePrice(o.prices, p, o.cluster.Location)
	if used == nil {
		return r
	}
	now := used[p.Name]
	r.Nodes = &now.Nodes
	r.Jobs = append(r.Jobs, now.Jobs...)
	if known && r.Sharing == "" { // else pods use parts of GPUs
		r.FreeChips = new(max(0, now.Nodes*a.ChipsPerHost-now.Used))
	}
	if r.NodePricePerHour != nil {
		r.PricePerHour = new(price.Round(*r.NodePricePerHour * float64(now.Nodes)))
	}
	return r
}

func (o *listOptions) print(rows []row) error {
	switch o.output {
	case "", "wide":
		return o.printTable(rows)
	case "name":
		for _, r := range rows {
			if _, err := fmt.Fprintln(o.Streams.Out, r.Name); err != nil {
				return err
			}
		}
		return nil
	}
	listed := map[string]any{"cluster": o.cluster.Path(), "pools": rows}
	if o.autopilot {
		listed["autopilot"] = true
	}
	return cli.Write(o.Streams.Out, o.output, listed)
}

func (o *listOptions) printTable(rows []row) error {
	if o.autopilot {
		fmt.Fprintf(o.Streams.ErrOut, "cluster %s is in Autopilot mode, which makes nodes for each job by itself: it needs no node pools\n", o.cluster.Name)
	}
	if len(rows) == 0 && !o.autopilot {
		fmt.Fprintf(o.Streams.ErrOut, "cluster %s has no node pools; add one with: kubectl kinetic pool add ACCELERATOR%s\n", o.cluster.Name, o.Connection.Given())
	}
	if len(rows) == 0 {
		return nil
	}
	wide := o.output == "wide"
	columns := ui.Columns("name", "accelerator", "topology", "hosts", "capacity", "nodes", "min", "max", "free", "jobs", "usd/h", "status")
	for i, c := range columns {
		columns[i].Varies = slices.Contains([]string{"topology", "hosts", "capacity", "min", "max", "status"}, c.Header)
		columns[i].Spare = slices.Contains([]string{"capacity", "min", "max", "free"}, c.Header)
		columns[i].Text = c.Header == "name" || c.Header == "jobs"
	}
	var more []column
	if wide {
		more = wideColumns(rows)
	}
	for _, c := range more {
		columns = append(columns, ui.Column{Header: c.header, Varies: true, Text: true})
	}
	table := ui.NewFitted(o.Streams.Out, ui.Detect(o.Streams.Out), !o.noHeaders, columns...)
	var bases []string
	for _, r := range rows {
		cells := r.cells(wide)
		for _, c := range more {
			cells = append(cells, cmp.Or(c.cell(r), unknown))
		}
		table.Row(cells...)
		if r.PricePerHour != nil {
			bases = append(bases, r.PriceBasis)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(bases) > 0 && !o.noHeaders {
		fmt.Fprintln(o.Streams.ErrOut, ui.Wrapped(o.Streams.ErrOut, "USD/H: "+price.Words(false, bases...)+", not a bill"))
	}
	return nil
}

const unknown = "-"

// column is one of -o wide. A cell may be "".
type column struct {
	header string
	cell   func(row) string
}

// wideColumns returns the columns that -o wide adds. A rare one is left out if no pool has a value for it.
func wideColumns(rows []row) []column {
	columns := []column{
		{"machine", func(r row) string { return r.MachineType }},
		{"zones", func(r row) string { return strings.Join(config.ByRegion(r.Zones, ""), " ") }},
	}
	for _, c := range []column{
		{"lifetime", func(r row) string { return r.lifetime }},
		{"reservation", func(r row) string { return r.Reservation }},
		{"problem", func(r row) string { return r.StatusMessage }},
	} {
		if slices.ContainsFunc(rows, func(r row) bool { return c.cell(r) != "" }) {
			columns = append(columns, c)
		}
	}
	return columns
}

// cells returns the columns of a pool, all jobs if wide.
func (r row) cells(wide bool) []string {
	name, topology, hosts := "cpu", unknown, unknown
	if a := r.Accelerator; a != nil {
		name, hosts = strings.TrimSpace(accelerator.TextByChips(*a)+" "+r.Sharing), strconv.Itoa(a.Hosts)
		topology = cmp.Or(a.Topology, unknown)
	}
	jobs := unknown
	if r.Nodes != nil {
		jobs = r.jobs(wide)
	}
	perHour := unknown
	if r.PricePerHour != nil {
		perHour = strconv.FormatFloat(*r.PricePerHour, 'f', 2, 64)
	}
	return []string{r.Name, name, topology, hosts, r.capacity, number(r.Nodes), strconv.Itoa(r.MinNodes), strconv.Itoa(r.MaxNodes), number(r.FreeChips), jobs, perHour, strings.ToLower(r.Status)}
}

// jobs returns the jobs of a pool: all, or the first and how many more there are.
func (r row) jobs(all bool) string {
	if len(r.Jobs) == 0 {
		return unknown
	}
	var ids []string
	for _, j := range r.Jobs {
		ids = append(ids, j.ID)
	}
	if all || len(ids) == 1 {
		return strings.Join(ids, ",")
	}
	return fmt.Sprintf("%s +%d", ids[0], len(ids)-1)
}

func number(n *int) string {
	if n == nil {
		return unknown
	}
	return strconv.Itoa(*n)
}
