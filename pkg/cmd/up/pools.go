package up

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/stack"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

func (f *upFlags) plan(names config.Names, minGiven bool, pools map[string]gke.Planned) error {
	for _, text := range f.accelerators {
		a, err := accelerator.Parse(text, accelerator.Options{Spot: f.spot})
		if err != nil {
			return fmt.Errorf("--%w", err)
		}
		cluster := gke.Cluster{Project: names.Project, Location: names.Zone, Name: names.Cluster}
		planned, err := gke.Plan(a, gke.Options{Cluster: cluster, Min: f.minNodes, MinGiven: minGiven, Nodes: gke.Nodes{Account: names.Email(config.NodesAccount), Identity: true, Networks: true}})
		if err != nil {
			return fmt.Errorf("--accelerator %s: %w", text, err)
		}
		pools[planned.Pool.Name] = planned
	}
	return nil
}

// zonesOf are the zones that have each machine, nil if that could not be found out.
type zonesOf map[gke.Machine][]string

// located is which zones have the machines, or why that is not known.
type located struct {
	zones zonesOf
	err   error
}

func (o *upOptions) machines() []gke.Machine {
	all := []gke.Machine{{Type: o.settings.Machine}}
	for _, p := range o.pools {
		all = append(all, gke.MachineOf(p.Accelerator()))
	}
	return all
}

// checkMode refuses flags about nodes for a cluster that exists and whose nodes GKE manages.
func (o *upOptions) checkMode(found *container.Cluster) error {
	if !gke.IsAutopilot(found) {
		return nil
	}
	mode := fmt.Sprintf("cluster %s is in Autopilot mode, which", found.Name)
	for _, name := range o.wanted.Pools {
		return cli.Usagef("--accelerator %s: %s creates nodes for each job itself: omit --accelerator", accelerator.Text(o.pools[name].Accelerator()), mode)
	}
	flag := ""
	switch {
	case o.settings.MachineGiven:
		flag = "--machine-type"
	case o.settings.MaxNodesGiven:
		flag = "--max-nodes"
	default:
		return nil
	}
	return cli.Usagef("%s: %s chooses the nodes by itself: omit %[1]s", flag, mode)
}

// settle decides in which zones the nodes of the pools are, and what that costs.
func (o *upOptions) settle(ctx context.Context, u *ui.UI, e *stack.Stack, found infra.States, l located) error {
	notes, err := o.place(ctx, e, l.zones)
	if err != nil {
		return err
	}
	switch {
	case e.Access.IsDisabled(l.err, e.Names.Project):
		o.placeLater(u, e, notes)
	case e.Cluster.Last() == nil || len(o.pools) > 0:
		warnOfZones(u, l.err)
	}
	if v := o.settings.VPC; v.Chosen() && e.Cluster.Last() == nil {
		u.Warn(fmt.Sprintf("nodes have no external addresses: the %s needs a Cloud NAT, so that jobs get packages and images from the internet, or at least Private Google Access for Google's own services", v))
	}
	e.DropNetwork()
	nat := slices.ContainsFunc(e.Items, func(i infra.Item) bool { return i.ID.Kind == infra.KindNAT })
	o.cost = costOf(clusterOf(e), o.alwaysOn(e, found), nat, o.prices)
	for _, name := range slices.Sorted(maps.Keys(o.pools)) {
		p, id := o.pools[name], poolID(name)
		if s := found[id]; !s.Exists {
			s.Detail = gke.Describe(p.Pool)
			found[id] = s
			tellNotes(u, name, notes[name].Notes)
			if text := gke.PlainNetwork(clusterOf(e), p.Pool); text != "" {
				u.Warn(text)
			}
		}
	}
	queue := infra.ID{Kind: infra.KindQueue, Name: o.wanted.Queue}
	if _, looked := found[queue]; queue.Name != "" && !looked { // the cluster is new
		found[queue] = infra.State{Detail: "Kueue is not in a new cluster: install it when the cluster is there, then repeat this command: " + kueue.Install}
	}
	return nil
}

func poolID(name string) infra.ID { return infra.ID{Kind: infra.KindPool, Name: name} }

// warnOfZones says that the zones of the nodes could not be checked, if err is an error.
func warnOfZones(u *ui.UI, err error) {
	if err != nil {
		u.Warn(fmt.Sprintf("could not check which zones have the machines, so GKE may reject them: %v", err))
	}
}

func clusterOf(e *stack.Stack) *container.Cluster {
	if found := e.Cluster.Last(); found != nil {
		return found
	}
	return &container.Cluster{Name: e.Names.Cluster, Location: e.Names.Zone, NetworkConfig: &container.NetworkConfig{DatapathProvider: gke.DataplaneV2}}
}

// place sets the zones of the pools, and returns what nobody has asked for about each. Its errors are about the
// Base line.
func (o *upOptions) place(ctx context.Context, e *stack.Stack, zones zonesOf) (map[string]gke.Placing, error) {
	if err := o.checkZone(ctx, e, zones); err != nil {
		return nil, err
	}
	all := map[string]gke.Placing{}
	for name, p := range o.pools {
		where, err := p.Settle(clusterOf(e), zones[gke.MachineOf(p.Accelerator())])
		if err != nil {
			return nil, fmt.Errorf("--accelerator: %w", err)
		}
		all[name] = where
	}
	return all, nil
}

// tellNotes leaves out the advice, which is about flags of `pool add`.
func tellNotes(u *ui.UI, pool string, notes []gke.Note) {
	for _, note := range notes {
		u.Note("node pool " + pool + ": " + note.Text)
	}
}

// checkZone refuses a zone, or a region, that doesn't exist or has no machines for the first nodes. On
// Autopilot, the usual ones stand for all.
func (o *upOptions) checkZone(ctx context.Context, e *stack.Stack, zones zonesOf) error {
	machine, location := o.settings.Machine, e.Names.Zone
	have := zones[gke.Machine{Type: machine}]
	within := func(zone string) bool { return zone == location || config.Region(zone) == location }
	switch {
	case e.Cluster.Last() != nil || have == nil || slices.ContainsFunc(have, within):
		return nil
	case len(have) == 0:
		return noMachine(ctx, e, machine)
	}
	there, err := gke.Machines(ctx, e.Access, e.Names.Project, location)
	if others := forTheCluster(there); err == nil && len(others) > 0 {
		what := gke.NoMachines("--zone "+location, location, machine, machine, have)
		return fmt.Errorf("%w; or choose available machines for the cluster's own components with --machine-type: %s", what, strings.Join(others, ", "))
	}
	return gke.NoMachines(fmt.Sprintf("--zone %s: it doesn't exist, or", location), location, machine, machine, have)
}

// forTheCluster returns those of the machine types of a zone that can run what a cluster itself needs: of 4
// processors, without accelerators.
func forTheCluster(there []string) []string {
	const most = 4
	var all []string
	for _, machine := range there {
		if strings.HasSuffix(machine, "-standard-4") && !strings.HasPrefix(machine, "g2-") { // G2 machines have a GPU
			all = append(all, machine)
		}
	}
	return all[:min(most, len(all))]
}

// noMachine says that no zone has a machine type, and which one the zone has that may be meant.
func noMachine(ctx context.Context, e *stack.Stack, machine string) error {
	n := e.Names
	flag := "--machine-type " + machine
	there, err := gke.Machines(ctx, e.Access, n.Project, n.Zone)
	if err != nil {
		there = nil // the advice is all that is missing
	}
	if hint := human.DidYouMean(machine, there); hint != "" {
		return fmt.Errorf("%s: no zone has machines of type %s that this project may use; %s", flag, machine, hint)
	}
	return gke.NoMachines(flag, n.Zone, machine, machine, nil)
}

// placeLater sets the zones once the APIs are enabled: before, none says which zones have the machines. What was told
// without these is not told again.
func (o *upOptions) placeLater(u *ui.UI, e *stack.Stack, told map[string]gke.Placing) {
	for i, r := range e.Resources {
		if r.ID.Kind == infra.KindAPIs {
			e.Resources[i].Actor = placing{r.Actor, func(ctx context.Context) error {
				var zones zonesOf
				err := e.Project.Patiently(ctx, r.ID, func() (err error) {
					zones, err = gke.Zones(ctx, e.Access, e.Names.Project, o.machines())
					return err
				})
				if ctx.Err() == nil {
					warnOfZones(u, err)
				}
				placed, err := o.place(ctx, e, zones)
				for _, name := range o.wanted.Pools {
					known := func(note gke.Note) bool { return slices.Contains(told[name].Notes, note) }
					tellNotes(u, name, slices.DeleteFunc(placed[name].Notes, known))
				}
				return err
			}}
		}
	}
}

// placing enables the APIs, and then sets the zones of the pools.
type placing struct {
	infra.Actor
	place func(context.Context) error
}

func (p placing) Ensure(ctx context.Context, have infra.State) error {
	if err := p.Actor.Ensure(ctx, have); err != nil {
		return err
	}
	return p.place(ctx)
}
