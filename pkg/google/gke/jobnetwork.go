package gke

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// NetworkPool returns a node pool on which the hosts of a job have the network of their GPUs, or why there is none.
// The machines of the job can have one.
func NetworkPool(c *container.Cluster, s api.Spec) (pool *container.NodePool, why string) {
	if IsAutopilot(c) {
		return nil, "Autopilot makes the nodes when the job asks for them"
	}
	why = fmt.Sprintf("cluster %s has no node pool with %s yet", c.Name, accelerator.Text(s.Accelerator))
	first := true
	for _, p := range c.NodePools {
		if !takes(p, s) {
			continue
		}
		lacks := lacksNetworks(p)
		if lacks == "" && driven(accelerator.NetworkOf(p.Config.MachineType)) {
			lacks = NoNetworks(c)
		} else if lacks != "" {
			lacks = cmp.Or(NoNetworks(c), "node pool "+p.Name+" "+lacks)
		}
		if lacks == "" {
			return p, ""
		}
		if first {
			why, first = lacks, false
		}
	}
	return nil, why
}

func takes(p *container.NodePool, s api.Spec) bool {
	shape, known := Shape(p)
	if !known || shape.MachineType != s.Accelerator.MachineType || Sharing(p) != "" {
		return false
	}
	selected := maps.Clone(s.Accelerator.NodeLabels())
	switch s.Capacity.Kind {
	case api.CapacitySpot:
		selected[api.NodeLabelSpot] = "true"
	case api.CapacityFlexStart:
		selected[api.NodeLabelFlexStart] = "true"
	case api.CapacityReservation:
		if r, err := api.ParseReservation(s.Capacity.Name); err == nil {
			maps.Copy(selected, r.NodeLabels())
		}
	}
	has := NodeLabels(p)
	for key, value := range selected {
		if has[key] != value {
			return false
		}
	}
	return true
}

// PodNetworks returns the Network objects for the interfaces of pods on a pool with TCPXO, in the order of its network
// cards, or why they are not known. bySubnetwork are the Network objects of the cluster that stand for a network card,
// by the names of their subnetworks.
func PodNetworks(p *container.NodePool, bySubnetwork map[string]string) (names []string, why string) {
	if p.NetworkConfig != nil {
		for _, card := range p.NetworkConfig.AdditionalNodeNetworkConfigs {
			name, found := bySubnetwork[path.Base(card.Subnetwork)]
			if !found {
				return nil, fmt.Sprintf("the cluster has no Network object for subnetwork %s of node pool %s", path.Base(card.Subnetwork), p.Name)
			}
			names = append(names, name)
		}
	}
	if names == nil { // GKE made them, and doesn't say for which card
		names = slices.Collect(maps.Values(bySubnetwork))
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	}
	if len(names) != gpuCards {
		return nil, fmt.Sprintf("the cluster has %d Network objects for the network cards of node pool %s, not %d", len(names), p.Name, gpuCards)
	}
	return names, ""
}

// IsAutopilot reports whether GKE makes and sizes the nodes of a cluster by itself. A cluster that is nil is none.
func IsAutopilot(c *container.Cluster) bool {
	return c != nil && c.Autopilot != nil && c.Autopilot.Enabled
}
