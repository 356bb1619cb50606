package accelerator

import (
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// pathwaysTypes are what the Pathways runtime calls the TPUs that it supports, in the order of their age. The names are
// those of google/pathways-job (api/v1/pathwaysjob_types.go).
var pathwaysTypes = []struct{ name, typ string }{
	{"v4", "tpuv4"}, {"v5e", "tpuv5e"}, {"v5p", "tpuv5"}, {"v6e", "tpuv6e"}, {"tpu7x", "tpu7x"},
}

// PathwaysInstance returns what the Pathways runtime calls a slice, such as tpuv6e:4x4; "" for what it does not support:
// anything but TPUs, old generations and single chips.
func PathwaysInstance(a api.Accelerator) string {
	i := slices.IndexFunc(pathwaysTypes, func(t struct{ name, typ string }) bool { return t.name == a.Name })
	if a.Kind != api.TPU || i < 0 || a.Chips == 1 {
		return ""
	}
	return pathwaysTypes[i].typ + ":" + a.Topology
}

// PathwaysTPUs returns the names of the TPUs that the Pathways runtime supports.
func PathwaysTPUs() (names []string) {
	for _, t := range pathwaysTypes {
		names = append(names, t.name)
	}
	return names
}
