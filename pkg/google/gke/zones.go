package gke

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

// zonesOfRegion is in how many zones of a region GKE creates nodes, unless the request says which.
const zonesOfRegion = 3

// zoneCount returns in how many zones of a cluster nodes are, unless a pool says: the locations are
// those that GKE returns, which are not known for a cluster that doesn't exist.
func zoneCount(c *container.Cluster) int {
	switch {
	case len(c.Locations) > 0:
		return len(c.Locations)
	case config.Region(c.Location) == c.Location:
		return zonesOfRegion
	}
	return 1
}

// Placing is where the nodes of a pool will be.
type Placing struct {
	// Zones is how many zones the pool is in.
	Zones int
	// Notes say what nobody has asked for about the zones and the number of nodes.
	Notes []Note
}

// Note is something about a pool that nobody has asked for.
type Note struct {
	Text string
	// Advice says which flag of `pool add` changes it, "" if none does.
	Advice string
}

// String returns the note with its advice.
func (n Note) String() string {
	if n.Advice == "" {
		return n.Text
	}
	return n.Text + "; " + n.Advice
}

// First is how many nodes a pool begins with: each zone begins with the same number.
func (p Placing) First(pool *container.NodePool) int { return p.Zones * int(pool.InitialNodeCount) }

// Settle sets the zones of the pool: those that were asked for, or those of the cluster, as far as they have its
// machines, or if none has, others of its region. A pool that oneZone is about is in one.
// have are the zones that have the machines, nil if that is not known. A cluster that doesn't exist yet has no zones:
// then all of its region count.
func (p Planned) Settle(c *container.Cluster, have []string) (Placing, error) {
	zones, notes, err := p.zones(c, have)
	if err != nil {
		return Placing{}, err
	}
	p.Pool.Locations = zones
	p.Fit(c)
	placing := Placing{Zones: len(zones), Notes: notes}
	switch {
	case len(zones) > 0:
	case p.oneZone(c) != "":
		placing.Zones = 1
	default:
		placing.Zones = zoneCount(c)
	}
	p.Pool.InitialNodeCount = int64(p.options.initial(placing.Zones))
	if note := p.options.raised(p.accelerator); note.Text != "" {
		placing.Notes = append(placing.Notes, note)
	}
	return placing, nil
}

// Accelerator returns what the pool is for.
func (p Planned) Accelerator() api.Accelerator { return p.accelerator }

// zones returns the zones of the pool, none if they are not known, and what to say about them.
func (p Planned) zones(c *container.Cluster, have []string) (zones []string, notes []Note, err error) {
	lacks := func(zone string) bool { return have != nil && !slices.Contains(have, zone) }
	if asked := p.options.Zones; len(asked) > 0 {
		return asked, nil, p.checkAsked(c, have, lacks)
	}
	zones = slices.DeleteFunc(within(c, have), lacks)
	elsewhere := len(zones) == 0 && have != nil
	if elsewhere {
		if zones, err = p.elsewhere(c, have); err != nil {
			return nil, nil, err
		}
	}
	if p.options.Reservation != "" && len(zones) > 1 {
		return nil, nil, fmt.Errorf("reservation %s is in one zone, and the cluster has several: name it with --zones: %s", p.options.Reservation, strings.Join(zones, ", "))
	}
	why, others := p.oneZone(c), []string(nil)
	if why != "" && len(zones) > 1 {
		zones, others = zones[:1], zones[1:]
	}
	if elsewhere {
		notes = append(notes, Note{Text: fmt.Sprintf("the nodes are in %s, since there is no %s (%s) in %s, where the cluster is",
			strings.Join(zones, ", "), p.shape(), p.accelerator.MachineType, where(c))})
	}
	switch {
	case why != "" && len(zones) == 0:
		notes = append(notes, Note{Text: "all nodes are in the same zone: " + why})
	case len(others) > 0:
		notes = append(notes, Note{fmt.Sprintf("all nodes are in %s: %s", zones[0], why), "choose another with --zones: " + strings.Join(others, ", ")})
	}
	return zones, notes, nil
}

// checkAsked returns an error if the pool can't be in the zones that were asked for.
func (p Planned) checkAsked(c *container.Cluster, have []string, lacks func(zone string) bool) error {
	for _, zone := range p.options.Zones {
		if config.Region(zone) != config.Region(c.Location) {
			return fmt.Errorf("--zones %s: cluster %s is in %s, and has no nodes in other regions", zone, c.Name, config.Region(c.Location))
		}
		if lacks(zone) {
			return NoMachines("--zones "+zone, zone, p.shape(), p.accelerator.MachineType, have)
		}
	}
	return nil
}

// elsewhere returns zones of the cluster's region for a pool whose machines are in none of the cluster's own zones. A
// reservation is in one zone, which nobody may guess.
func (p Planned) elsewhere(c *container.Cluster, have []string) ([]string, error) {
	zones := inRegion(have, config.Region(c.Location))
	missing := NoMachines(fmt.Sprintf("cluster %s in %s", c.Name, where(c)), c.Location, p.shape(), p.accelerator.MachineType, have)
	switch {
	case len(zones) == 0:
		return nil, missing
	case p.options.Reservation != "":
		return nil, fmt.Errorf("%w; name the zone of reservation %s with --zones", missing, p.options.Reservation)
	}
	return zones[:min(len(zones), zoneCount(c))], nil
}

// shape returns the name of what the pool is for. A zone has its machines, spot or not.
func (p Planned) shape() string {
	a := p.accelerator
	a.Spot = false
	return accelerator.Text(a)
}

// where returns the zones of a cluster in words, or where it will be.
func where(c *container.Cluster) string {
	return cmp.Or(strings.Join(c.Locations, ", "), c.Location)
}

// oneZone says why the pool must be in one zone, "" if it need not.
func (p Planned) oneZone(c *container.Cluster) string {
	a := p.accelerator
	switch {
	case a.Kind == api.TPU && a.Hosts > 1:
		return "the hosts of a slice must be in one zone"
	case IsRack(a):
		return "the machines of a rack must be in one zone"
	case p.options.Compact:
		return "with --compact, machines must be in one zone"
	case a.Kind == api.GPU && p.Pool.NetworkConfig != nil && NoNetworks(c) == "":
		return "the networks of GPUs are in one zone"
	}
	return ""
}

func within(c *container.Cluster, have []string) []string {
	switch {
	case len(c.Locations) > 0:
		return slices.Clone(c.Locations)
	case config.Region(c.Location) != c.Location:
		return []string{c.Location}
	}
	return inRegion(have, c.Location)
}

func inRegion(zones []string, region string) []string {
	return slices.DeleteFunc(slices.Clone(zones), func(zone string) bool { return config.Region(zone) != region })
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
	if config.Region(near[0]) != config.Region(location) {
		text += "; they need a cluster in their region"
	}
	return fmt.Errorf("%s", text)
}

// distance is how far a zone is from a location: in its region, on its continent, or elsewhere.
func distance(location, zone string) int {
	continent := func(s string) string { return s[:max(0, strings.IndexByte(s, '-'))] }
	switch {
	case config.Region(zone) == config.Region(location):
		return 0
	case continent(zone) == continent(location):
		return 1
	}
	return 2
}
