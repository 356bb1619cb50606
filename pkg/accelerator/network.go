package accelerator

import (
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// What the accelerators of several hosts talk over besides api.NetworkRDMA and api.NetworkTCPXO, beside the network
// that every host has. GKE sets it up for a node pool that asks for it. No job can choose these.
const (
	NoNetwork api.Network = ""
	TCPX      api.Network = "tcpx" // GPUDirect-TCPX
	NICs      api.Network = "nics" // more network cards, of TPUs
)

// NetworkOf returns the network that machines of a type can have, NoNetwork for a type that has none or that the
// catalogue doesn't list.
func NetworkOf(machine string) api.Network {
	for _, f := range builtin().families {
		for _, s := range f.shapes {
			if s.typ == machine && machine != "" {
				return s.network
			}
		}
	}
	return NoNetwork
}

// NamesWith returns the names of the accelerators that have machines with a network, in order.
func NamesWith(n api.Network) []string {
	var names []string
	for _, f := range builtin().families {
		if slices.ContainsFunc(f.shapes, func(s shape) bool { return s.network == n }) {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return names
}
