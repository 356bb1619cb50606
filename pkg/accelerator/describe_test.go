package accelerator

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestDescribe(t *testing.T) {
	tests := map[string]struct {
		text    string
		backend api.Backend
		want    string
	}{
		"cpu":                        {"cpu", "", "cpu: no accelerator"},
		"cpu on spot":                {"cpu:spot", "", "cpu: no accelerator, spot"},
		"one GPU":                    {"l4", "", "l4: 1 GPU on 1 host (g2-standard-4)"},
		"two GPUs":                   {"l4x2:spot", "", "l4: 2 GPUs on 1 host (g2-standard-24), spot"},
		"another architecture":       {"gb200", "", "gb200: 4 GPUs on 1 host (a4x-highgpu-4g), arm64"},
		"one host":                   {"v6e-8:spot", "", "v6e 2x4: 8 chips on 1 host (ct6e-standard-8t), spot"},
		"several hosts":              {"v6e-8", api.BackendLWS, "v6e 2x4: 8 chips on 2 hosts (ct6e-standard-4t)"},
		"one chip":                   {"v5e-1", "", "v5e 1x1: 1 chip on 1 host (ct5lp-hightpu-1t; Google Cloud: v5litepod-1)"},
		"Google Cloud's name, v5p":   {"v5p-8", "", "v5p 2x2x2: 8 chips on 2 hosts (ct5p-hightpu-4t; Google Cloud: v5p-16)"},
		"Google Cloud's name, v3":    {"v3", "", "v3 2x2: 4 chips on 1 host (ct3-hightpu-4t; Google Cloud: v3-8)"},
		"Google Cloud's name, v4":    {"v4:spot", "", "v4 2x2x1: 4 chips on 1 host (ct4p-hightpu-4t; Google Cloud: v4-8), spot"},
		"Google Cloud's name, tpu7x": {"v7x-64", "", "tpu7x 4x4x4: 64 chips on 16 hosts (tpu7x-standard-4t; Google Cloud: tpu7x-128)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a, err := Parse(tt.text, Options{Backend: tt.backend})
			if err != nil {
				t.Fatal(err)
			}
			if got := Describe(a); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A machine type that something else chooses is not told.
func TestDescribeWithoutAMachineType(t *testing.T) {
	for text, want := range map[string]string{"v6e-8": "v6e 2x4: 8 chips on 1 host", "l4:spot": "l4: 1 GPU on 1 host, spot"} {
		a, err := Parse(text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		a.MachineType = ""
		if got := Describe(a); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestTextByChips(t *testing.T) {
	known := map[string]bool{}
	for _, a := range Catalogue() {
		text := TextByChips(a)
		known[text] = true
		if got, err := Parse(text, Options{}); err != nil || got.Name != a.Name || got.Chips != a.Chips {
			t.Errorf("%s of %+v: got %+v, %v", text, a, got, err)
		}
	}
	for _, text := range []string{"cpu", "l4", "l4x2", "v6e-8", "v5p-8"} {
		if !known[text] {
			t.Errorf("no shape is spelled %s", text)
		}
	}
}

func TestPriceBasis(t *testing.T) {
	tests := map[string]string{
		"l4":          "us-central1, 2025-03",
		"v4-16":       "us-central2, 2026",
		"v3-16":       "us-east1, 2026",
		"v3-4":        "us-central1, 2026",
		"v5p-4x4x12":  "us-central1, 2026",
		"tpu7x":       "",
		"t4:spot":     "",
		"cpu":         "",
		"v6e-8:spot":  "us-central1, 2026",
		"h100x8:spot": "us-central1, 2025-03",
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			a, err := Parse(text, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := PriceBasis(a); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestWithHosts(t *testing.T) {
	for _, c := range []struct {
		typed string
		hosts int
		want  string
	}{
		{"v5e-16", 1, "v5e-2x4"}, {"v5e-16", 2, "v5e-4x4"}, {"v5e-16", 3, "v5e-4x4"}, {"v5e-1", 8, "v5e-4x8"},
		{"v5e-1", 65, "v5e-16x16"}, {"v6e-256", 9, "v6e-8x8"}, {"v4-8", 5, "v4-2x4x4"},
	} {
		a, err := Parse(c.typed, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := Text(WithHosts(a, c.hosts)); got != c.want {
			t.Errorf("%s with %d hosts: got %s, want %s", c.typed, c.hosts, got, c.want)
		}
	}
}
