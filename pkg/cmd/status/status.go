// Package status is the command `kubectl kinetic status`: it shows what a cluster has, what is idle, and
// what it costs.
package status

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"google.golang.org/api/container/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/stack"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

const statusLong = `Show a cluster in GKE: its node pools, the jobs that run and wait, the size of its
buckets, which nodes are idle, and what they cost per hour at list prices.

It ends with the cost of the jobs' accelerators in the last days, in total and by
person, with spot capacity listed separately. Only jobs that are still in the cluster
are counted, not those whose result was collected or that were cleaned up. Label jobs
with their owner: run them with --label owner=NAME. All prices are list prices with a
date, not a bill: see docs/cost.md.

Exit codes: 0 the status was printed; 1 the cluster does not exist or Google Cloud
could not be reached; 2 the command line or KINETIC_PRICES is wrong; 130 interrupted.`

const statusExamples = `  kubectl kinetic status

  # another cluster, the last 30 days, by the label team instead of owner
  kubectl kinetic status --cluster research --days 30 --owner-label team

  # what each person's jobs cost on spot capacity
  kubectl kinetic status -o json | jq -r '.cost.byPerson[] | [.person, .spot.usd] | @tsv'`

type statusFlags struct {
	output string
	days   int
	label  string
}

// NewCommand returns `kubectl kinetic status`.
func NewCommand(streams genericiooptions.IOStreams, now clock.PassiveClock) *cobra.Command {
	c, f := stack.NewBase(streams, now), &statusFlags{days: 7}
	own := cli.NewSection("Flags")
	own.FormatVar(&f.output, "Output `FORMAT`: yaml or json.", cli.Formats()...)
	cli.NumberVar(own.Flags, &f.days, 1, 3650, "days", "Add up the cost of jobs in the last `NUMBER` days, including today.")
	own.Flags.StringVar(&f.label, "owner-label", "owner", "Job label `KEY` that names the owner.")
	root := &cobra.Command{
		Use: "status", Short: "Show node pools, jobs, idle nodes and cost of a cluster", Long: statusLong, Example: statusExamples,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic status"},
		Args:        stack.NoArguments, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: cli.RunE(func(ctx context.Context, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			s, err := read(ctx, c, f)
			if err != nil {
				return err
			}
			if f.output != "" {
				return cli.Write(streams.Out, f.output, s)
			}
			return s.write(streams, f.label)
		}),
	}
	cli.AddSections(root, own, c.Connection.Section())
	return root
}

func (f *statusFlags) check() error {
	if wrong := validation.IsQualifiedName(f.label); len(wrong) > 0 {
		return cli.Usagef("--owner-label %q: %s", f.label, wrong[0])
	}
	return nil
}

type status struct {
	Project string `json:"project"`
	Zone    string `json:"zone"`
	Cluster string `json:"cluster"`
	State   string `json:"state"`
	Version string `json:"version"`
	// Autopilot means that the nodes are GKE's own: there are no node pools.
	Autopilot bool `json:"autopilot,omitempty"`
	// Running and Waiting are the IDs of jobs in all namespaces, null if they are not known.
	Running []string      `json:"running"`
	Waiting []string      `json:"waiting"`
	Pools   []poolStatus  `json:"pools"`
	Buckets []google.Size `json:"buckets"`
	// PerHour is the list price of the nodes that are on, IdlePerHour that of those without jobs; null if
	// the nodes are not known.
	PerHour     *price.Sum `json:"perHour"`
	IdlePerHour *price.Sum `json:"idlePerHour"`
	// Bases say where and when the prices hold.
	Bases []string `json:"priceBases"`
	// Cost is what the accelerators of jobs have cost, null if the jobs are not known.
	Cost *price.Breakdown `json:"cost"`
	// Errors say what could not be read.
	Errors []string `json:"errors,omitempty"`
}

type poolStatus struct {
	Name        string           `json:"name"`
	Accelerator string           `json:"accelerator,omitempty"`
	Capacity    api.CapacityKind `json:"capacity,omitempty"` // empty on demand
	Queued      bool             `json:"queued,omitempty"`   // a queue of Kueue asks for its machines
	capacity    string           // the same in a word
	Nodes       *int             `json:"nodes"` // null if not known, like Jobs
	Min         int              `json:"min"`
	Max         int              `json:"max"`
	Jobs        *int             `json:"jobs"`
	// Idle says that it has nodes and no job. The first pool never is: it runs the cluster itself.
	Idle bool `json:"idle"`
	// PricePerHour is that of all nodes, null if there is no list price.
	PricePerHour *float64 `json:"pricePerHour"`
	Basis        string   `json:"priceBasis,omitempty"`
}

func read(ctx context.Context, c *stack.Base, f *statusFlags) (status, error) {
	names, err := stack.NamesOf("status", c.Connection)
	if err != nil {
		return status{}, err
	}
	table, err := price.Read(os.Getenv)
	if err != nil {
		return status{}, cli.Usage(err)
	}
	e, err := stack.New(ctx, c.Connection, infra.Wanted{Names: names}, google.Settings{}, nil)
	if err != nil {
		return status{}, err
	}
	e.Project.Patience = 0
	r := &reading{c: c, e: e, s: status{Project: names.Project, Zone: names.Zone, Cluster: names.Cluster, Pools: []poolStatus{}, Bases: []string{}}}
	found, err := r.all(ctx)
	if err != nil {
		return status{}, err
	}
	if found == nil {
		return status{}, missing(ctx, e)
	}
	r.s.State, r.s.Version = found.Status, found.CurrentMasterVersion
	r.s.Autopilot = gke.IsAutopilot(found)
	if !r.s.Autopilot {
		for _, p := range found.NodePools {
			r.s.Pools = append(r.s.Pools, newPool(p, r.pools, table, names.Zone))
		}
	}
	if r.pools != nil && !r.s.Autopilot {
		r.s.sum()
	}
	if r.jobs != nil {
		meter := price.Meter{Prices: table, Region: names.Region(), Now: r.now}
		r.s.Cost = new(meter.Breakdown(r.jobs, f.days, func(e api.JobSummary) string { return e.Workload.Labels[f.label] }))
	}
	return r.s, nil
}

// missing returns the error for a cluster that doesn't exist: where one of that name is, or what the project
// has.
func missing(ctx context.Context, e *stack.Stack) error {
	n := e.Names
	others := e.Others(ctx)
	for _, c := range others {
		if c.Name == n.Cluster {
			next := "kubectl kinetic status" + gke.Cluster{Project: n.Project, Location: c.Location, Name: c.Name}.Flags()
			return &transport.Explained{Of: api.KindNotFound, Do: next, Text: fmt.Sprintf("%s, but there is one in %s: use --zone %s", e.Missing(nil), c.Location, c.Location)}
		}
	}
	next := "kubectl kinetic up" + e.GKE().Flags()
	return &transport.Explained{Of: api.KindNotFound, Do: next, Text: e.Missing(others) + "; create it with: " + next}
}

// newPool describes a node pool. has is nil if the nodes are not known.
func newPool(p *container.NodePool, has map[string]joblist.Pool, prices price.Table, location string) poolStatus {
	limits := gke.Limits(p)
	row := poolStatus{Name: p.Name, Min: limits.Min, Max: limits.Max, Capacity: gke.Capacity(p), Queued: gke.IsQueued(p), capacity: gke.CapacityWords(p)}
	if a, known := gke.Shape(p); known {
		row.Accelerator = accelerator.TextByChips(a)
	}
	if has == nil {
		return row
	}
	now := has[p.Name]
	jobs := len(now.Jobs)
	row.Nodes, row.Jobs = &now.Nodes, &jobs
	row.Idle = now.Nodes > 0 && jobs == 0 && len(now.Others) == 0 && row.Accelerator != ""
	if each, basis := gke.NodePrice(prices, p, location); each != nil {
		row.PricePerHour, row.Basis = new(price.Round(*each*float64(now.Nodes))), basis
	}
	return row
}

// sum adds up the prices of the pools. One without nodes adds nothing.
func (s *status) sum() {
	s.PerHour, s.IdlePerHour = &price.Sum{}, &price.Sum{}
	for _, p := range s.Pools {
		if *p.Nodes == 0 {
			continue
		}
		s.PerHour.Add(p.PricePerHour)
		if p.Idle {
			s.IdlePerHour.Add(p.PricePerHour)
		}
		if p.Basis != "" && !slices.Contains(s.Bases, p.Basis) {
			s.Bases = append(s.Bases, p.Basis)
		}
	}
}
