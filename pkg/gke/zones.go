package gke

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/target"
)

// zonesOfRegion is in how many zones of a region GKE creates nodes, unless the request says which.
const zonesOfRegion = 3

// zoneCount returns in how many zones of a cluster nodes are, unless a pool says: the locations are
// those that GKE returns, which are not known for a cluster that doesn't exist.
func zoneCount(c *container.Cluster) int {
	switch {
	case len(c.Locations) > 0:
		return len(c.Locations)
	case target.Region(c.Location) == c.Location:
		return zonesOfRegion
	}
	return 1
}

// Settle sets the zones of the pool: those that were asked for, or those of the cluster, as far as they
// have its machines. A slice of several hosts is in one, and so are machines that are close to each other, and GPUs
// with networks of their own.
// have are the zones that have the machines, nil if that is not known. A cluster that doesn't exist yet has no zones: then all of its region count.
func (p Planned) Settle(c *container.Cluster, have []string) error {
	zones, err := p.zones(c, have)
	if err != nil {
		return err
	}
	p.Pool.Locations = zones
	p.Fit(c)
	if len(zones) == 0 {
		p.Pool.InitialNodeCount = int64(p.options.initial(zoneCount(c)))
		return nil
	}
	p.Pool.InitialNodeCount = int64(p.options.initial(len(zones)))
	return nil
}

// Accelerator returns what the pool is for.
func (p Planned) Accelerator() api.Accelerator { return p.accelerator }

func (p Planned) zones(c *container.Cluster, have []string) ([]string, error) {
	a := p.accelerator
	lacks := func(zone string) bool { return have != nil && !slices.Contains(have, zone) }
	for _, zone := range p.options.Zones {
		if target.Region(zone) != target.Region(c.Location) {
			return nil, fmt.Errorf("--zones %s: cluster %s is in %s, and has no nodes in other regions", zone, c.Name, target.Region(c.Location))
		}
		if lacks(zone) {
			return nil, NoMachines("--zones "+zone, zone, accelerator.Text(a), a.MachineType, have)
		}
	}
	if len(p.options.Zones) > 0 {
		return p.options.Zones, nil
	}
	zones := slices.DeleteFunc(within(c, have), lacks)
	if len(zones) == 0 && have != nil {
		where := fmt.Sprintf("cluster %s in %s", c.Name, cmp.Or(strings.Join(c.Locations, ", "), c.Location))
		return nil, NoMachines(where, c.Location, accelerator.Text(a), a.MachineType, have)
	}
	if a.Kind == api.TPU && a.Hosts > 1 || p.options.Compact || IsRack(a) || a.Kind == api.GPU && p.Pool.NetworkConfig != nil && NoNetworks(c) == "" {
		zones = zones[:min(1, len(zones))]
	}
	return zones, nil
}

// within returns the zones of a cluster.
func within(c *container.Cluster, have []string) []string {
	switch {
	case len(c.Locations) > 0:
		return slices.Clone(c.Locations)
	case target.Region(c.Location) != c.Location:
		return []string{c.Location}
	}
	return slices.DeleteFunc(slices.Clone(have), func(zone string) bool { return target.Region(zone) != c.Location })
}

// nearestZones is how many zones a message offers.
const nearestZones = 4

// NoMachines says that a place has no machines of a type, and which zones near a location have them.
// what is what the machines are wanted for.
func NoMachines(where, location, what, machine string, have []string) error {
	if what != machine {
		what = fmt.Sprintf("%s (%s)", what, machine)
	}
	if len(have) == 0 {
		return fmt.Errorf("%s: no zone has machines of type %s that this project may use; ask Google Cloud for access", where, machine)
	}
	near := slices.Clone(have)
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(distance(location, a), distance(location, b)) })
	near = near[:min(len(near), nearestZones)]
	text := fmt.Sprintf("%s has no %s; the nearest zones that have it: %s", where, what, strings.Join(near, ", "))
	if target.Region(near[0]) != target.Region(location) {
		text += "; they need a cluster in their region"
	}
	return fmt.Errorf("%s", text)
}

// distance is how far a zone is from a location: in its region, on its continent, or elsewhere.
func distance(location, zone string) int {
	continent := func(s string) string { return s[:max(0, strings.IndexByte(s, '-'))] }
	switch {
	case target.Region(zone) == target.Region(location):
		return 0
	case continent(zone) == continent(location):
		return 1
	}
	return 2
}
