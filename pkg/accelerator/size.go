package accelerator

import (
	"cmp"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// span is a quantity on the smallest and the largest of some machines.
type span struct{ least, most int }

// Size is the processors and the memory of a machine, or a part of it.
type Size struct {
	// Machine is the type of the machine, empty for a part.
	Machine   string
	CPUs, GiB int
}

// Share returns what a host asks for by default: half of the processors and of the memory
// that come with its chips. The rest is for what GKE reserves on the node (up to a quarter
// of a small machine's memory) and for the pods that run on every node. A host with GPUs
// may be put on a machine that has more of them, so the machine with the least for each GPU
// counts. The Size of cpu is zero.
func Share(a api.Accelerator) Size {
	var share Size
	for _, m := range machinesFor(a) {
		part := Size{CPUs: max(1, m.vcpu.least*a.ChipsPerHost/m.perHost/2), GiB: max(1, m.gib.least*a.ChipsPerHost/m.perHost/2)}
		if share.CPUs == 0 {
			share = part
		}
		share.CPUs, share.GiB = min(share.CPUs, part.CPUs), min(share.GiB, part.GiB)
	}
	return share
}

// Largest returns the largest machine that can be a host of a shape: a TPU has only one,
// for GPUs it is the machine with the most of them. The Size of cpu is zero.
func Largest(a api.Accelerator) Size {
	machines := machinesFor(a)
	if len(machines) == 0 {
		return Size{}
	}
	m := slices.MaxFunc(machines, func(a, b *machine) int {
		return cmp.Or(cmp.Compare(a.vcpu.most, b.vcpu.most), cmp.Compare(a.gib.most, b.gib.most))
	})
	return Size{Machine: m.typ, CPUs: m.vcpu.most, GiB: m.gib.most}
}

// Own returns how large a machine with exactly the chips of a shape's host can be. The Size of cpu is zero.
func Own(a api.Accelerator) Size {
	for _, m := range machinesFor(a) {
		if m.typ == a.MachineType {
			return Size{CPUs: m.vcpu.most, GiB: m.gib.most}
		}
	}
	return Size{}
}

// machinesFor lists the machines whose nodes a host of a shape selects.
func machinesFor(a api.Accelerator) []*machine {
	f := builtin().byName[a.Name]
	if f == nil {
		return nil
	}
	var machines []*machine
	for _, s := range f.shapes {
		fits := s.typ == a.MachineType || a.Kind == api.GPU && s.perHost >= a.ChipsPerHost
		if fits && !slices.Contains(machines, s.machine) {
			machines = append(machines, s.machine)
		}
	}
	return machines
}
