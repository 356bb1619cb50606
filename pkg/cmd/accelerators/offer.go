package accelerators

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// offer is a shape with its prices in one region.
type offer struct {
	accelerator.Offer

	perHour, spot *float64 // in USD, nil if unknown
	basis         string   // where and when perHour held
	spotBasis     string   // the same of spot
	spotCounts    bool     // because the user asked for spot capacity
	live          *live    // nil without --live
}

func newOffer(known accelerator.Offer, prices price.Table, region string, spotCounts bool) offer {
	o := offer{Offer: known, spotCounts: spotCounts}
	o.perHour, o.basis = priceOf(known.Accelerator, prices, region)
	onSpot := known.Accelerator
	onSpot.Spot, onSpot.PricePerHour = true, known.SpotPerHour
	o.spot, o.spotBasis = priceOf(onSpot, prices, region)
	return o
}

func priceOf(a api.Accelerator, prices price.Table, region string) (*float64, string) {
	usd, basis, known := prices.Accelerator(a, region)
	if !known {
		return nil, ""
	}
	return &usd, basis
}

func (o offer) wanted() (float64, bool) {
	usd := o.perHour
	if o.spotCounts {
		usd = o.spot
	}
	if usd == nil {
		return 0, false
	}
	return *usd, true
}

// name returns the value of --accelerator for the shape.
func (o offer) name() string {
	if o.spotCounts {
		return o.Text + ":" + spotWord
	}
	return o.Text
}

// from says where and when the prices held: that which counts, if they are from different lists.
func (o offer) from() string {
	if o.spotCounts || o.basis == "" {
		return o.spotBasis
	}
	return o.basis
}

// text returns what to type after --accelerator for the shape.
func (o offer) text() string {
	if usual, err := accelerator.Parse(o.Text, accelerator.Options{}); err != nil || usual.Hosts != o.Hosts {
		return o.name() + " --backend lws"
	}
	return o.name()
}

// otherNames lists the aliases but the nodes' label.
func (o offer) otherNames() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(o.Aliases), func(alias string) bool { return alias == o.Label }), ",")
}

func dollars(usd *float64) string {
	if usd == nil {
		return ""
	}
	if text := strconv.FormatFloat(*usd, 'f', -1, 64); len(text)-strings.LastIndexByte(text, '.') > 3 && strings.Contains(text, ".") {
		return "$" + text // 0.245
	}
	return price.Dollars(*usd)
}

// item is a shape as programs read it.
type item struct {
	Accelerator  string              `json:"accelerator"`
	Kind         api.AcceleratorKind `json:"kind"`
	Name         string              `json:"name"`
	Aliases      []string            `json:"aliases"`
	Chips        int                 `json:"chips"`
	Hosts        int                 `json:"hosts"`
	ChipsPerHost int                 `json:"chipsPerHost"`
	Topology     string              `json:"topology,omitempty"`
	MachineType  string              `json:"machineType"`
	GBPerChip    int                 `json:"gbPerChip"`
	Label        string              `json:"label"`
	Resource     string              `json:"resource"`
	Arch         string              `json:"arch,omitempty"`
	PerHour      *float64            `json:"pricePerHour"`
	SpotPerHour  *float64            `json:"spotPricePerHour"`
	Basis        string              `json:"priceBasis,omitempty"`
	SpotBasis    string              `json:"spotPriceBasis,omitempty"`
	Live         *live               `json:"live,omitempty"` // with --live
}

func (o offer) item() item {
	return item{o.text(), o.Kind, o.Name, append([]string{}, o.Aliases...), o.Chips, o.Hosts, o.ChipsPerHost, o.Topology, o.MachineType, o.ChipGB,
		o.Label, o.Resource, o.Arch, o.perHour, o.spot, o.basis, o.spotBasis, o.live}
}
