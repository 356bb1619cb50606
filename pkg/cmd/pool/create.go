package pool

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/stack"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
)

// poolsAtATime limits how many pools are made at a time.
const poolsAtATime = 4

// facts are what has to be known about a cluster before a pool is added.
type facts struct {
	cluster *container.Cluster
	// zones are those that have a machine; none are listed if that could not be found out.
	zones map[gke.Machine][]string
}

// look asks for all facts at the same time.
func (o *addOptions) look(ctx context.Context, access *gcp.Access, client *gke.Client) (known facts, err error) {
	var machines []gke.Machine
	for _, w := range o.wanted {
		machines = append(machines, gke.MachineOf(w.accelerator))
	}
	var asked sync.WaitGroup
	asked.Go(func() {
		known.zones, _ = gke.Zones(ctx, access, o.cluster.Project, machines) // GKE itself refuses a wrong zone, in other words
	})
	known.cluster, err = client.Get(ctx)
	asked.Wait()
	return known, err
}

// run makes the pools, several at a time.
func (o *addOptions) run(ctx context.Context) error {
	access, err := gcp.New(ctx, os.Getenv)
	if err != nil {
		return err
	}
	client, err := gke.New(ctx, access, o.cluster)
	if err != nil {
		return err
	}
	u := ui.New(o.Streams.ErrOut, o.Clock.Now)
	known, err := o.look(ctx, access, client)
	if err != nil {
		return err
	}
	if known.cluster.Status == "STOPPING" {
		return o.deleting()
	}
	plans, err := o.plans(known)
	if err != nil {
		return cli.Usage(err)
	}
	u.Phase("cluster", fmt.Sprintf("%s in %s of project %s", o.cluster.Name, o.cluster.Location, o.cluster.Project))
	created := fresh(known.cluster.NodePools, plans)
	tellNotes(u, created)
	if err := o.confirmStanding(ctx, o.cluster.Location, keptOf(created), o.yes, "nothing was created"); err != nil {
		return err
	}
	results := make([]result, len(plans))
	errs := make([]error, len(plans))
	told := stack.NewProgress(u, o.Clock.Now, "creating", len(plans))
	told.Quiet = true
	parallel.Each(poolsAtATime, plans, func(i int, p placed) {
		own := *client
		id := infra.ID{Kind: infra.KindPool, Name: p.Pool.Name}
		own.Progress = func(text string) { told.Show(id, text) }
		told.Update(infra.Event{ID: id})
		outcome, err := own.Create(ctx, p.Planned)
		told.Update(infra.Event{ID: id, Done: true, Err: err})
		errs[i] = err
		if err == nil {
			u.Phase(outcomeWord(outcome), p.Pool.Name+": "+describe(existing(known.cluster.NodePools, p.Pool)))
			results[i] = result{Name: p.Pool.Name, Outcome: outcome, Accelerator: o.wanted[i].accelerator}
		}
	})
	told.End()
	o.noteKept(u, known.cluster, plans, results)
	for i, r := range results {
		if text := gke.PlainNetwork(known.cluster, existing(known.cluster.NodePools, plans[i].Pool)); text != "" && r.Name != "" {
			u.Warn(text)
		}
	}
	done := slices.DeleteFunc(results, func(r result) bool { return r.Name == "" })
	return cmp.Or(o.printResults(done), o.first(ctx, errs))
}

// existing returns the pool that has the name of another, else that one.
func existing(pools []*container.NodePool, wanted *container.NodePool) *container.NodePool {
	for _, p := range pools {
		if p.Name == wanted.Name {
			return p
		}
	}
	return wanted
}

func outcomeWord(outcome gke.Outcome) string {
	if outcome == gke.Unchanged {
		return "exists"
	}
	return string(outcome)
}

// noteKept warns that the limits, zones and labels of an existing pool stay as they are.
func (o *addOptions) noteKept(u *ui.UI, cluster *container.Cluster, plans []placed, results []result) {
	for i, r := range results {
		if r.Outcome != gke.Unchanged {
			continue
		}
		is, err := find(cluster.NodePools, o.cluster, r.Name)
		if err != nil {
			continue // someone else has just made it
		}
		if has, wants := gke.Limits(is), plans[i].LimitsFor(is); has != wants {
			u.Warn(fmt.Sprintf("node pool %s keeps its limits of %s instead of the requested %s; change them with: kubectl kinetic pool set %s --min-nodes %d --max-nodes %d%s",
				r.Name, has, wants, r.Name, wants.Min, wants.Max, o.Connection.Given()))
		}
		for _, text := range gke.Kept(o.cluster, is, o.wanted[i].options) {
			u.Warn(text)
		}
	}
}

// placed is what makes a pool, and where that will be.
type placed struct {
	gke.Planned
	where gke.Placing
}

// fresh returns the plans of the pools that don't exist yet.
func fresh(pools []*container.NodePool, plans []placed) []placed {
	return slices.DeleteFunc(slices.Clone(plans), func(p placed) bool { return existing(pools, p.Pool) != p.Pool })
}

// tellNotes says what nobody has asked for about new pools.
func tellNotes(u *ui.UI, plans []placed) {
	for _, p := range plans {
		for _, note := range p.where.Notes {
			u.Note("node pool " + p.Pool.Name + ": " + note.String())
		}
	}
}

// keptOf returns which nodes of new pools stay on.
func keptOf(plans []placed) []kept {
	var all []kept
	for _, p := range plans {
		all = append(all, kept{p.Pool, gke.Limits(p.Pool).Min, p.where})
	}
	return all
}

// plans returns what makes the pools, in zones that have their machines. Errors are about the
// command line.
func (o *addOptions) plans(known facts) ([]placed, error) {
	if gke.IsAutopilot(known.cluster) {
		return nil, fmt.Errorf("cluster %s is in Autopilot mode, which makes nodes for each job by itself: run the job, it needs no node pool", o.cluster.Name)
	}
	var plans []placed
	for _, w := range o.wanted {
		options := w.options
		options.Cluster, options.Nodes = o.cluster, gke.NodesOf(known.cluster)
		p, err := gke.Plan(w.accelerator, options)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.text, err)
		}
		where, err := p.Settle(known.cluster, known.zones[gke.MachineOf(w.accelerator)])
		if err != nil {
			return nil, err
		}
		if err := o.taken(known.cluster.NodePools, p.Pool); err != nil {
			return nil, err
		}
		plans = append(plans, placed{p, where})
	}
	return plans, nil
}

// taken returns an error if another pool has the name of one that is wanted.
func (o *addOptions) taken(pools []*container.NodePool, wanted *container.NodePool) error {
	is := existing(pools, wanted)
	if _, accelerated := gke.Shape(is); !accelerated { // remove would refuse it
		return fmt.Errorf("--name %s: the name is taken by a node pool without accelerators; choose another name", is.Name)
	}
	if text := gke.Difference(is, wanted); text != "" {
		return fmt.Errorf("--name %s: the name is taken by a pool with %s; choose another name, or remove that pool with: kubectl kinetic pool remove %s%s", is.Name, text, is.Name, o.Connection.Given())
	}
	return nil
}

// deleting returns the error for a cluster that is being deleted: GKE would wait for that, and then find none.
func (o *addOptions) deleting() error {
	next := "kubectl kinetic up" + o.cluster.Flags()
	return &cli.Error{Code: cli.ExitFailed, Kind: api.KindExists, Next: next,
		Err: fmt.Errorf("adding node pools: cluster %s in %s of project %s is being deleted: wait until it is gone, then create it with: %s",
			o.cluster.Name, o.cluster.Location, o.cluster.Project, next)}
}

// result is what a change has done to a pool.
type result struct {
	Name        string          `json:"name"`
	Outcome     gke.Outcome     `json:"outcome"`
	Accelerator api.Accelerator `json:"accelerator"`
}

func (o *addOptions) printResults(results []result) error {
	switch o.output {
	case "":
		return nil
	case "name":
		var names []string
		for _, r := range results {
			names = append(names, r.Name)
		}
		return o.printNames(names)
	}
	return cli.Write(o.Streams.Out, o.output, map[string]any{"pools": results})
}

func (o *addOptions) printNames(names []string) error {
	for _, name := range names {
		if _, err := fmt.Fprintln(o.Streams.Out, name); err != nil {
			return err
		}
	}
	return nil
}
