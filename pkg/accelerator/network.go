package accelerator

import "slices"

// Network is what the accelerators of several hosts talk over, beside the network that every host has.
// GKE sets it up for a node pool that asks for it.
type Network string

// The networks.
const (
	NoNetwork Network = ""
	RDMA      Network = "rdma"  // GPUDirect RDMA, with NCCL's plugin gIB
	TCPXO     Network = "tcpxo" // GPUDirect-TCPXO
	TCPX      Network = "tcpx"  // GPUDirect-TCPX
	NICs      Network = "nics"  // more network cards, of TPUs
)

// NetworkOf returns the network that machines of a type can have, NoNetwork for a type that has none or that the
// catalogue doesn't list.
func NetworkOf(machine string) Network {
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
func NamesWith(n Network) []string {
	var names []string
	for _, f := range builtin().families {
		if slices.ContainsFunc(f.shapes, func(s shape) bool { return s.network == n }) {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return names
}
