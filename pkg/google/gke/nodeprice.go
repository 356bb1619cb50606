package gke

import (
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

// NodePrice returns the list price in USD of one node of a pool for an hour, nil if it is unknown, and where and
// when it holds. Location is the zone or the region of the cluster.
func NodePrice(prices price.Table, p *container.NodePool, location string) (perHour *float64, basis string) {
	if p.Config == nil {
		return nil, ""
	}
	capacity := Capacity(p)
	if a, ok := Shape(p); ok {
		all, basis := price.Rate(prices, a, capacity, location)
		if all == nil {
			return nil, ""
		}
		each := price.Round(*all / float64(max(1, a.Hosts)))
		return &each, basis
	}
	if capacity == api.CapacityFlexStart {
		return nil, ""
	}
	usd, basis, known := prices.Of(p.Config.MachineType, config.Region(location), capacity == api.CapacitySpot)
	if !known {
		return nil, ""
	}
	return &usd, basis
}

// Capacity returns where the machines of a pool come from.
func Capacity(p *container.NodePool) api.CapacityKind {
	if p.Config == nil {
		return api.CapacityOnDemand
	}
	_, reserved := Reservation(p)
	switch {
	case p.Config.FlexStart, IsQueued(p):
		return api.CapacityFlexStart
	case p.Config.Spot || p.Config.Preemptible:
		return api.CapacitySpot
	case reserved:
		return api.CapacityReservation
	}
	return api.CapacityOnDemand
}

// CapacityWords says where the machines of a pool come from, for people: a queue asks for those of a queued pool.
func CapacityWords(p *container.NodePool) string {
	if IsQueued(p) {
		return "queued"
	}
	return Capacity(p).Words()
}
