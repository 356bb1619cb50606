package accelerator

import (
	"cmp"
	_ "embed" // for the two data files
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

//go:embed catalogue.txt
var catalogueText string

//go:embed shorthands.txt
var shorthandsText string

// builtin returns the embedded catalogue.
var builtin = sync.OnceValue(func() *catalogue { return newCatalogue(catalogueText, shorthandsText) })

// Catalogue lists every shape that the data lists: cpu, the GPUs and the TPUs, each sorted
// by chips and then by hosts. Shapes that exist on one host and on several are listed
// twice. Larger boxes of v4, v5p and tpu7x that follow from their rule alone (v5p-4x4x12)
// can be asked for, but are not listed. The caller may change the result.
func Catalogue() []api.Accelerator {
	all := []api.Accelerator{CPU()}
	for _, f := range builtin().families {
		for _, s := range f.shapes {
			all = append(all, s.accelerator(false))
		}
	}
	return all
}

// catalogue is the data that Parse looks up.
type catalogue struct {
	families   []*family
	byName     map[string]*family // aliases too
	shorthands map[string]string
}

func newCatalogue(machines, shorthands string) *catalogue {
	c := &catalogue{byName: map[string]*family{}, shorthands: readShorthands(shorthands)}
	for _, m := range readMachines(machines) {
		c.add(m)
	}
	for _, f := range c.families {
		slices.SortStableFunc(f.shapes, func(a, b shape) int {
			return cmp.Or(cmp.Compare(a.chips(), b.chips()), cmp.Compare(a.hosts(), b.hosts()))
		})
	}
	return c
}

// add stores a line under its name and its aliases.
func (c *catalogue) add(m machine) {
	f := c.byName[m.name]
	if f == nil {
		f = &family{name: m.name, kind: m.kind, cores: m.cores}
		c.families = append(c.families, f)
	}
	for _, name := range m.names() {
		c.byName[name] = f
	}
	if m.standard != nil {
		f.standard = m.standard
	}
	if m.cubes > 0 {
		f.boxes = &m
	}
	for _, t := range m.topologies {
		f.shapes = append(f.shapes, shape{machine: &m, topology: t})
	}
}

type family struct {
	name     string
	kind     api.AcceleratorKind
	cores    int      // cores of one chip, as Cloud TPU's names count
	shapes   []shape  // sorted by chips, then by hosts
	standard topology // what the bare name stands for
	boxes    *machine // the machine of large boxes, nil if there are none
}

func (f *family) withChips(n int, several bool) (shape, bool) {
	return f.pick(several, func(s shape) bool { return s.chips() == n })
}

// withTopology returns the shape with exactly that topology, listed or not.
func (f *family) withTopology(t topology, several bool) (shape, bool) {
	if f.boxes != nil && t.isLargeBox(f.boxes.cubes) {
		return shape{machine: f.boxes, topology: t}, true
	}
	return f.pick(several, func(s shape) bool { return slices.Equal(s.topology, t) })
}

// pick returns the matching shape with the fewest hosts, or with the most if several is
// set.
func (f *family) pick(several bool, matches func(shape) bool) (shape, bool) {
	var found []shape
	for _, s := range f.shapes {
		if matches(s) {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		return shape{}, false
	}
	byHosts := func(a, b shape) int { return cmp.Compare(a.hosts(), b.hosts()) }
	if several {
		return slices.MaxFunc(found, byHosts), true
	}
	return slices.MinFunc(found, byHosts), true
}

func (f *family) spell(n int) string {
	if f.kind == api.TPU {
		return fmt.Sprintf("%s-%d", f.name, n)
	}
	return api.Accelerator{Kind: f.kind, Name: f.name, Chips: n}.Short()
}

// shape is a slice: hosts of one machine type in one topology.
type shape struct {
	*machine
	topology topology
}

func (s shape) chips() int { return s.topology.chips() }
func (s shape) hosts() int { return s.chips() / s.perHost }

func (s shape) accelerator(spot bool) api.Accelerator {
	a := api.Accelerator{
		Kind: s.kind, Name: s.name, Chips: s.chips(), Hosts: s.hosts(), ChipsPerHost: s.perHost,
		MachineType: s.typ, Spot: spot, Resource: api.ResourceGPU, Label: s.label,
	}
	price, units := s.price, a.Hosts
	if spot {
		price = s.spotPrice
	}
	if s.kind == api.TPU {
		a.Topology, a.Resource, units = s.topology.String(), api.ResourceTPU, a.Chips
	}
	if s.arch != "amd64" {
		a.Arch = s.arch
	}
	if price != nil {
		// Whole hundredths of a cent: 8 × 0.57 is 4.56 in print.
		usd := math.Round(*price*float64(units)*1e4) / 1e4
		a.PricePerHour = &usd
	}
	return a
}

// CPU returns the shape of a host without accelerators.
func CPU() api.Accelerator {
	return api.Accelerator{Kind: api.CPU, Name: string(api.CPU), Hosts: 1}
}

// Offer is a shape of the catalogue with all that the catalogue says about it.
type Offer struct {
	api.Accelerator // on demand
	// Text is what to type. Shapes that exist on one host and on several have the same.
	Text string
	// Aliases are the other names of the accelerator, not of the shape.
	Aliases []string
	// ChipGB is the memory of one chip, in GB.
	ChipGB int
	// SpotPerHour is the list price in USD of all hosts for one hour on spot capacity, nil if unknown.
	SpotPerHour *float64
	// Region and AsOf are where and when the prices held, "" without prices.
	Region, AsOf string
}

// Offers lists what Catalogue lists but cpu, in the same order. The caller may change the result.
func Offers() []Offer {
	var all []Offer
	for _, f := range builtin().families {
		for _, s := range f.shapes {
			all = append(all, Offer{Accelerator: s.accelerator(false), Text: f.spell(s.chips()), Aliases: slices.Clone(s.names()[1:]), ChipGB: s.memory,
				SpotPerHour: s.accelerator(true).PricePerHour, Region: s.region, AsOf: s.asOf})
		}
	}
	return all
}
