package api

import "strconv"

// AcceleratorKind is the family of an accelerator.
type AcceleratorKind string

// The kinds of accelerators.
const (
	CPU AcceleratorKind = "cpu"
	GPU AcceleratorKind = "gpu"
	TPU AcceleratorKind = "tpu"
)

// Accelerator is one shape that GKE can schedule: the result of parsing `tpu-v6e-8:spot`.
// Counts are chips in every generation (a GPU is one chip).
type Accelerator struct {
	Kind AcceleratorKind `json:"kind"`
	// Name is the catalogue's name, never an alias: "v6e", "a100-80gb", "cpu".
	Name string `json:"name"`
	// Topology is the shape of a TPU slice, "2x4" or "2x2x2"; empty otherwise.
	Topology string `json:"topology,omitempty"`
	// Chips is the total over all hosts; 0 for cpu.
	Chips int `json:"chips"`
	// Hosts is the number of pods that make up one slice, at least 1.
	Hosts int `json:"hosts"`
	// ChipsPerHost is how much of Resource each pod requests.
	ChipsPerHost int `json:"chipsPerHost"`
	// MachineType is the Compute Engine machine of one host; empty for cpu.
	MachineType string `json:"machineType,omitempty"`
	// Spot requests capacity that can be taken back at any time.
	Spot bool `json:"spot"`
	// Resource is the extended resource that a pod requests: google.com/tpu,
	// nvidia.com/gpu, or empty for cpu.
	Resource string `json:"resource,omitempty"`
	// Label is the value of cloud.google.com/gke-tpu-accelerator (TPU) or
	// cloud.google.com/gke-accelerator (GPU) on the nodes that have it.
	Label string `json:"label,omitempty"`
	// Arch is the CPU architecture of the machine if it is not amd64.
	Arch string `json:"arch,omitempty"`
	// PricePerHour is the list price in USD of all hosts for one hour, nil if unknown.
	PricePerHour *float64 `json:"pricePerHour"`
}

// Short returns the shape as at the start of job ids: cpu, l4, l4x2, v5e1, v6e8.
func (a Accelerator) Short() string {
	switch {
	case a.Kind == TPU:
		return a.Name + strconv.Itoa(a.Chips)
	case a.Kind == GPU && a.Chips > 1:
		return a.Name + "x" + strconv.Itoa(a.Chips)
	default:
		return a.Name
	}
}
