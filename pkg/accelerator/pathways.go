package accelerator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// pathwaysTypes are what the Pathways runtime calls the TPUs that it supports, in the order of their age. The names are those
// of google/pathways-job (internal/controller/pathwaysjob_controller.go); tpu7x is in AI-Hypercomputer/pathways-utils
// (experimental/gke/jobset.py).
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

// CheckPathways says why jobs on an accelerator can't have the Pathways runtime, nil if they can.
func CheckPathways(a api.Accelerator) error {
	var names []string
	for _, t := range pathwaysTypes {
		names = append(names, t.name)
	}
	supported := strings.Join(names, ", ")
	switch {
	case a.Kind != api.TPU:
		return fmt.Errorf("--backend pathways is for TPUs (%s), but --accelerator is %s: use --backend lws", supported, Text(a))
	case PathwaysInstance(a) == "":
		return fmt.Errorf("--backend pathways supports %s TPUs with 2 chips or more, but --accelerator is %s: choose another, or use --backend lws", supported, Text(a))
	}
	return nil
}
