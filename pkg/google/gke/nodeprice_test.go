package gke

import (
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
)

func TestOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices")
	if err := os.WriteFile(path, []byte("e2-standard-4 - 0.05 * 2026-11\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own, err := price.Read(func(string) string { return path })
	if err != nil {
		t.Fatal(err)
	}
	l4 := []*container.AcceleratorConfig{{AcceleratorType: "nvidia-l4", AcceleratorCount: 1}}
	slice := &container.PlacementPolicy{TpuTopology: "4x4"}
	reserved := &container.ReservationAffinity{Key: "compute.googleapis.com/reservation-name", Values: []string{"r"}}
	tests := map[string]struct {
		prices price.Table
		pool   container.NodePool
		usd    float64 // 0 for unknown
		basis  string
	}{
		"a GPU":                   {price.Table{}, container.NodePool{Config: &container.NodeConfig{MachineType: "g2-standard-4", Accelerators: l4}}, 0.71, "us-central1, 2025-03"},
		"spot":                    {price.Table{}, container.NodePool{Config: &container.NodeConfig{MachineType: "g2-standard-4", Accelerators: l4, Spot: true}}, 0.28, "us-central1, 2025-03"},
		"flex-start":              {price.Table{}, container.NodePool{Config: &container.NodeConfig{MachineType: "g2-standard-4", Accelerators: l4, FlexStart: true}}, 0, ""},
		"reserved":                {price.Table{}, container.NodePool{Config: &container.NodeConfig{MachineType: "g2-standard-4", Accelerators: l4, ReservationAffinity: reserved}}, 0.71, "us-central1, 2025-03"},
		"a host of a slice":       {price.Table{}, container.NodePool{PlacementPolicy: slice, Config: &container.NodeConfig{MachineType: "ct6e-standard-4t"}}, 10.8, "us-central1, 2026"},
		"an unknown machine":      {price.Table{}, container.NodePool{Config: &container.NodeConfig{MachineType: "n2-standard-96"}}, 0, ""},
		"cpu":                     {price.Table{}, container.NodePool{Config: &container.NodeConfig{MachineType: "e2-standard-4"}}, 0.134012, "us-central1, 2025"},
		"cpu, spot":               {price.Table{}, container.NodePool{Config: &container.NodeConfig{MachineType: "e2-standard-4", Spot: true}}, 0, ""},
		"cpu, preemptible":        {price.Table{}, container.NodePool{Config: &container.NodeConfig{MachineType: "e2-standard-4", Preemptible: true}}, 0, ""},
		"cpu, flex-start":         {price.Table{}, container.NodePool{Config: &container.NodeConfig{MachineType: "e2-standard-4", FlexStart: true}}, 0, ""},
		"cpu, spot, in the file":  {own, container.NodePool{Config: &container.NodeConfig{MachineType: "e2-standard-4", Spot: true}}, 0.05, "2026-11, " + path},
		"cpu, not spot, the same": {own, container.NodePool{Config: &container.NodeConfig{MachineType: "e2-standard-4"}}, 0.134012, "us-central1, 2025"},
		"nothing":                 {price.Table{}, container.NodePool{}, 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			usd, basis := NodePrice(tt.prices, &tt.pool, "us-central1-a")
			got := 0.0
			if usd != nil {
				got = *usd
			}
			if got != tt.usd || basis != tt.basis || (usd == nil) != (tt.usd == 0) {
				t.Errorf("got %v, %q, want %v, %q", got, basis, tt.usd, tt.basis)
			}
		})
	}
}
