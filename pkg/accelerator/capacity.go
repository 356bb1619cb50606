package accelerator

import "github.com/kubectl-kinetic/kinetic/pkg/api"

// HasFlexStart reports whether the Dynamic Workload Scheduler has such machines:
// not those of the oldest TPUs.
func HasFlexStart(a api.Accelerator) bool { return a.Name != "v3" && a.Name != "v4" }

// WithHosts is the shape of the same TPU that has a number of hosts, or else the
// next more, or the most that there are; of those with as many, the largest.
func WithHosts(a api.Accelerator, hosts int) api.Accelerator {
	best, known := a, map[string]bool{}
	for _, s := range Catalogue() {
		text := Text(s)
		if s.Name != a.Name || known[text] { // a text means the first of its shapes
			continue
		}
		known[text] = true
		if best.Hosts < hosts && s.Hosts > best.Hosts || s.Hosts >= hosts && s.Hosts <= best.Hosts {
			best = s
		}
	}
	return best
}

// HasMultislice reports whether slices of a TPU can be joined by the network of the
// data center: those on several hosts, but for the oldest.
func HasMultislice(a api.Accelerator) bool {
	return a.Kind == api.TPU && a.Hosts > 1 && a.Name != "v3"
}

// TakesComputeClass reports whether pods of a kind can be in a compute class. Of those that
// Autopilot comes with, Accelerator is for accelerators and the others are for none; any
// other class is the cluster's own.
func TakesComputeClass(kind api.AcceleratorKind, class string) bool {
	return !api.IsBuiltInClass(class) || (class == api.AcceleratorClass) == (kind != api.CPU)
}
