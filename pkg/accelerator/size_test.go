package accelerator

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestSizes(t *testing.T) {
	tests := map[string]struct {
		text                string
		share, largest, own Size
	}{
		"no accelerator":                        {"cpu", Size{}, Size{}, Size{}},
		"a TPU has one machine":                 {"v6e-1", Size{CPUs: 22, GiB: 88}, Size{"ct6e-standard-1t", 44, 176}, Size{CPUs: 44, GiB: 176}},
		"the same topology on one host":         {"v5e-2x4", Size{CPUs: 112, GiB: 192}, Size{"ct5lp-hightpu-8t", 224, 384}, Size{CPUs: 224, GiB: 384}},
		"a host of a slice":                     {"v5p-2x2x4", Size{CPUs: 104, GiB: 224}, Size{"ct5p-hightpu-4t", 208, 448}, Size{CPUs: 208, GiB: 448}},
		"a large slice":                         {"v5p-4x4x12", Size{CPUs: 104, GiB: 224}, Size{"ct5p-hightpu-4t", 208, 448}, Size{CPUs: 208, GiB: 448}},
		"the smallest machine with the GPU":     {"l4", Size{CPUs: 2, GiB: 8}, Size{"g2-standard-96", 96, 384}, Size{CPUs: 32, GiB: 128}},
		"two of them":                           {"l4x2", Size{CPUs: 12, GiB: 48}, Size{"g2-standard-96", 96, 384}, Size{CPUs: 24, GiB: 96}},
		"a share of a machine with less a chip": {"a100", Size{CPUs: 3, GiB: 42}, Size{"a2-megagpu-16g", 96, 1360}, Size{CPUs: 12, GiB: 85}},
		"a machine of any size":                 {"t4", Size{CPUs: 1, GiB: 3}, Size{"n1-standard-16", 96, 624}, Size{CPUs: 48, GiB: 312}},
		"a whole machine":                       {"h200", Size{CPUs: 112, GiB: 1476}, Size{"a3-ultragpu-8g", 224, 2952}, Size{CPUs: 224, GiB: 2952}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a, err := Parse(tt.text, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Size{tt.share, tt.largest, tt.own}, []Size{Share(a), Largest(a), Own(a)}); diff != "" {
				t.Errorf("share, largest and own (-want +got):\n%s", diff)
			}
		})
	}
}

// kubeReserved is the memory in GiB that GKE keeps for a node.
func kubeReserved(gib float64) float64 {
	kept := 0.1 // below which pods are evicted
	for _, step := range []struct{ next, share float64 }{{4, 0.25}, {4, 0.2}, {8, 0.1}, {112, 0.06}, {1e9, 0.02}} {
		part := min(gib, step.next)
		kept += part * step.share
		gib -= part
	}
	return kept
}

// Every host can be scheduled on the smallest of its machines, beside 0.5 CPU and 1.5 GiB of
// the pods that run on every node.
func TestEveryShareFitsItsMachine(t *testing.T) {
	for _, f := range builtin().families {
		for _, s := range f.shapes {
			share := Share(s.accelerator(false))
			if free := 0.93*float64(s.vcpu.least) - 0.5; float64(share.CPUs) > free {
				t.Errorf("%s asks for %d CPUs, and %s has %.2f", Text(s.accelerator(false)), share.CPUs, s.typ, free)
			}
			if free := float64(s.gib.least) - kubeReserved(float64(s.gib.least)) - 1.5; float64(share.GiB) > free {
				t.Errorf("%s asks for %d GiB, and %s has %.1f", Text(s.accelerator(false)), share.GiB, s.typ, free)
			}
			if share.CPUs < 1 || share.GiB < 1 {
				t.Errorf("%s asks for nothing", s.typ)
			}
		}
	}
}

func TestTakesComputeClass(t *testing.T) {
	for class, want := range map[string]map[api.AcceleratorKind]bool{
		"Accelerator": {api.CPU: false, api.GPU: true, api.TPU: true},
		"Scale-Out":   {api.CPU: true, api.GPU: false, api.TPU: false},
		"own-class":   {api.CPU: true, api.GPU: true, api.TPU: true},
	} {
		for kind, takes := range want {
			if got := TakesComputeClass(kind, class); got != takes {
				t.Errorf("%s %s: got %v, want %v", class, kind, got, takes)
			}
		}
	}
}
