package accelerator

import "github.com/kubectl-kinetic/kinetic/pkg/api"

// HasFlexStart tells whether the Dynamic Workload Scheduler has such machines:
// not those of the oldest TPUs.
func HasFlexStart(a api.Accelerator) bool { return a.Name != "v3" && a.Name != "v4" }

// HasMultislice tells whether slices of a TPU can be joined by the network of the
// data center: those on several hosts, but for the oldest.
func HasMultislice(a api.Accelerator) bool {
	return a.Kind == api.TPU && a.Hosts > 1 && a.Name != "v3"
}
