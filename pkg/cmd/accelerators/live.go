package accelerators

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// live is what a project may use of a shape.
type live struct {
	// Zones have its machine type; Here means that the zone, or one of the region, of the cluster has it.
	Zones []string `json:"zones"`
	Here  bool     `json:"here"`
	// Quota is the one that limits it most: that of the region or, for GPUs, that of the project in all
	// regions. It is null if none is listed, as for the newest GPUs and TPUs.
	Quota *gke.Quota `json:"quota"`
}

// look adds to the offers what the project of a place may use.
func (o *options) look(ctx context.Context, where config.Target, env func(string) string) error {
	access, err := gcp.New(ctx, env)
	if err != nil {
		return err
	}
	var machines []gke.Machine
	for _, known := range accelerator.Offers() {
		machines = append(machines, gke.MachineOf(known.Accelerator))
	}
	found, err := gke.ReadAvailability(ctx, access, where.Project, config.Region(where.Zone), machines)
	if err != nil {
		return err
	}
	for i, known := range o.offers {
		o.offers[i].live = liveOf(known.Accelerator, found, where.Zone, o.spot)
	}
	return nil
}

func liveOf(a api.Accelerator, found *gke.Availability, zone string, spot bool) *live {
	l := &live{Zones: append([]string{}, found.Zones(gke.MachineOf(a))...)}
	l.Here = slices.ContainsFunc(l.Zones, func(z string) bool { return z == zone || config.Region(z) == zone })
	a.Spot = spot
	if q, listed := found.QuotaFor(a); listed {
		l.Quota = &q
	}
	return l
}

// liveColumns are those of --live: whether the cluster's zone has it, how much of the quota is left, and which
// zones have it.
func (o *options) liveColumns() []column {
	region := config.Region(o.place.Zone)
	zones := func(a offer) string { return someZones(a.live.Zones, region) }
	if o.output == wideFormat {
		zones = func(a offer) string { return strings.Join(config.ByRegion(a.live.Zones, region), " ") }
	}
	return []column{always("here", offer.here), always("quota left", offer.left), varies("zones", zones)}
}

func (o offer) here() string {
	if o.live.Here {
		return "yes"
	}
	return "no"
}

func (o offer) left() string {
	if q := o.live.Quota; q != nil {
		return fmt.Sprintf("%g of %g", q.Free(), q.Limit)
	}
	return ""
}

// someZones names the zones of one region, the given one if it has some, and counts the others:
// "us-central1-a,b +6".
func someZones(zones []string, region string) string {
	regions := config.ByRegion(zones, region)
	if len(regions) < 2 {
		return strings.Join(regions, "")
	}
	return fmt.Sprintf("%s +%d", regions[0], len(zones)-strings.Count(regions[0], ",")-1)
}
