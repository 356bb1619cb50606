package accelerator

import (
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

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
			all = append(all, s.offer(f))
		}
	}
	return all
}

func (s shape) offer(f *family) Offer {
	return Offer{Accelerator: s.accelerator(false), Text: f.spell(s.chips()), Aliases: slices.Clone(s.names()[1:]), ChipGB: s.memory,
		SpotPerHour: s.accelerator(true).PricePerHour, Region: s.region, AsOf: s.asOf}
}
