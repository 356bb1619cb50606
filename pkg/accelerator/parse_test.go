package accelerator

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// parsed is a shape in one line: text, hosts and machine type.
func parsed(a api.Accelerator) string {
	return strings.TrimSpace(Text(a) + " " + count(a.Hosts, "host") + " " + a.MachineType)
}

func TestParse(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		// Blanks, case, prefixes.
		"blanks around are cut":    {" \tV6E-8\n", "v6e-2x4 1 host ct6e-standard-8t"},
		"prefix with a dash":       {"gpu-l4", "l4 1 host g2-standard-4"},
		"prefix with a colon":      {"gpu:l4", "l4 1 host g2-standard-4"},
		"no prefix":                {"l4", "l4 1 host g2-standard-4"},
		"tpu prefix with a dash":   {"tpu-v5e-8", "v5e-2x4 1 host ct5lp-hightpu-8t"},
		"tpu prefix with a colon":  {"tpu:v5litepod-2x4", "v5e-2x4 1 host ct5lp-hightpu-8t"},
		"a name like the prefix":   {"tpu-tpu7x-4", "tpu7x-2x2x1 1 host tpu7x-standard-4t"},
		"suffix after upper case":  {"L4:SPOT", "l4:spot 1 host g2-standard-4"},
		"suffix after a shorthand": {"gpu:spot", "l4:spot 1 host g2-standard-4"},
		"suffix after a number":    {"8:spot", "h100x8:spot 1 host a3-highgpu-8g"},

		// cpu.
		"cpu":                      {"cpu", "cpu 1 host"},
		"cpu's number is nothing":  {"cpu:8", "cpu 1 host"},
		"cpu on nought":            {"cpu:0", "cpu 1 host"},
		"cpu with many digits":     {"cpu:99999999999999999999999", "cpu 1 host"},
		"spot on cpu is not lost":  {"cpu:spot", "cpu:spot 1 host"},
		"spot on cpu after number": {"cpu:8:spot", "cpu:spot 1 host"},

		// A kind alone, a number alone.
		"gpu alone":                {"gpu", "l4 1 host g2-standard-4"},
		"tpu alone":                {"tpu", "v5e-2x2 1 host ct5lp-hightpu-4t"},
		"one":                      {"1", "h100 1 host a3-highgpu-1g"},
		"a number tries GPU first": {"8", "h100x8 1 host a3-highgpu-8g"},
		"no GPU has 32":            {"32", "v5p-2x4x4 8 hosts ct5p-hightpu-4t"},
		"gpu dash number":          {"gpu-4", "h100x4 1 host a3-highgpu-4g"},
		"gpu:1":                    {"gpu:1", "h100 1 host a3-highgpu-1g"},
		"gpu:2":                    {"gpu:2", "h100x2 1 host a3-highgpu-2g"},
		"gpu:4":                    {"gpu:4", "h100x4 1 host a3-highgpu-4g"},
		"gpu:8":                    {"gpu:8", "h100x8 1 host a3-highgpu-8g"},
		"gpu:16 exists":            {"gpu:16", "a100x16 1 host a2-megagpu-16g"},
		"leading zeros alone":      {"gpu:004", "h100x4 1 host a3-highgpu-4g"},
		"tpu:1":                    {"tpu:1", "v5e-1x1 1 host ct5lp-hightpu-1t"},
		"tpu:4":                    {"tpu:4", "v5e-2x2 1 host ct5lp-hightpu-4t"},
		"tpu:8 on one host":        {"tpu:8", "v6e-2x4 1 host ct6e-standard-8t"},
		"tpu dash number":          {"tpu-8", "v6e-2x4 1 host ct6e-standard-8t"},
		"tpu:16":                   {"tpu:16", "v6e-4x4 4 hosts ct6e-standard-4t"},
		"tpu:32":                   {"tpu:32", "v5p-2x4x4 8 hosts ct5p-hightpu-4t"},
		"tpu:64":                   {"tpu:64", "v5e-8x8 16 hosts ct5lp-hightpu-4t"},
		"tpu:128":                  {"tpu:128", "v5e-8x16 32 hosts ct5lp-hightpu-4t"},
		"tpu:256":                  {"tpu:256", "v5e-16x16 64 hosts ct5lp-hightpu-4t"},
		"tpu:512":                  {"tpu:512", "v4-8x8x8 128 hosts ct4p-hightpu-4t"},
		"tpu:1024":                 {"tpu:1024", "v4-8x8x16 256 hosts ct4p-hightpu-4t"},
		"tpu:2048":                 {"tpu:2048", "v4-8x16x16 512 hosts ct4p-hightpu-4t"},
		"tpu:4096":                 {"tpu:4096", "v4-16x16x16 1024 hosts ct4p-hightpu-4t"},

		// GPUs by name.
		"count of one":                 {"l4x1", "l4 1 host g2-standard-4"},
		"count":                        {"l4x4", "l4x4 1 host g2-standard-48"},
		"count after a colon":          {"a100:8", "a100x8 1 host a2-highgpu-8g"},
		"count, colon and spot":        {"gpu:l4:2:spot", "l4x2:spot 1 host g2-standard-24"},
		"leading zeros":                {"l4x04", "l4x4 1 host g2-standard-48"},
		"a label is a name":            {"nvidia-l4", "l4 1 host g2-standard-4"},
		"a label with a count":         {"nvidia-tesla-a100x2", "a100x2 1 host a2-highgpu-2g"},
		"a label after the prefix":     {"gpu-nvidia-l4", "l4 1 host g2-standard-4"},
		"a label with digits":          {"nvidia-h100-80gbx8", "h100x8 1 host a3-highgpu-8g"},
		"a100 is the 40 GB one":        {"a100-40gb", "a100 1 host a2-highgpu-1g"},
		"a name with a dash":           {"a100-80gbx2", "a100-80gbx2 1 host a2-ultragpu-2g"},
		"a name with an x":             {"rtx-pro-6000x2", "rtx-pro-6000x2 1 host g4-standard-96"},
		"a name with an x, alone":      {"gpu:nvidia-rtx-pro-6000", "rtx-pro-6000 1 host g4-standard-48"},
		"a GPU that comes in eights":   {"h200", "h200x8 1 host a3-ultragpu-8g"},
		"a name that begins a longer":  {"h100-mega", "h100-megax8 1 host a3-megagpu-8g"},
		"sixteen 40 GB a100":           {"a100x16", "a100x16 1 host a2-megagpu-16g"},
		"the arm64 one":                {"gb200x4", "gb200x4 1 host a4x-highgpu-4g"},
		"V100 on an N1 machine":        {"v100x4", "v100x4 1 host n1-standard-32"},
		"spot after a count":           {"t4x2:spot", "t4x2:spot 1 host n1-standard-8"},
		"kind, label, count and spot":  {"gpu:nvidia-tesla-p100x4:spot", "p100x4:spot 1 host n1-standard-16"},
		"RTX PRO by label, with count": {"nvidia-rtx-pro-6000x8", "rtx-pro-6000x8 1 host g4-standard-384"},

		// TPUs by name.
		"default of v3":              {"v3", "v3-2x2 1 host ct3-hightpu-4t"},
		"default of v4":              {"v4", "v4-2x2x1 1 host ct4p-hightpu-4t"},
		"default of v5e":             {"v5e", "v5e-2x2 1 host ct5lp-hightpu-4t"},
		"default of v5p":             {"v5p", "v5p-2x2x2 2 hosts ct5p-hightpu-4t"},
		"default of v6e":             {"v6e", "v6e-2x4 1 host ct6e-standard-8t"},
		"default of tpu7x":           {"tpu7x", "tpu7x-2x2x1 1 host tpu7x-standard-4t"},
		"v7x is tpu7x":               {"tpu-v7x-8", "tpu7x-2x2x2 2 hosts tpu7x-standard-4t"},
		"v5litepod is v5e":           {"v5litepod-16", "v5e-4x4 4 hosts ct5lp-hightpu-4t"},
		"the v3 device":              {"v3-4", "v3-2x2 1 host ct3-hightpu-4t"},
		"the v3 slice":               {"v3-16", "v3-4x4 4 hosts ct3p-hightpu-4t"},
		"counts are chips, v4":       {"v4-8", "v4-2x2x2 2 hosts ct4p-hightpu-4t"},
		"counts are chips, v5p":      {"v5p-8", "v5p-2x2x2 2 hosts ct5p-hightpu-4t"},
		"counts are chips, tpu7x":    {"tpu7x-64", "tpu7x-4x4x4 16 hosts tpu7x-standard-4t"},
		"leading zeros, TPU":         {"v6e-08", "v6e-2x4 1 host ct6e-standard-8t"},
		"one chip":                   {"v6e-1", "v6e-1x1 1 host ct6e-standard-1t"},
		"four chips":                 {"v6e-4", "v6e-2x2 1 host ct6e-standard-4t"},
		"one chip of tpu7x":          {"tpu7x-1", "tpu7x-1x1x1 1 host tpu7x-standard-1t"},
		"topology":                   {"v6e-4x8", "v6e-4x8 8 hosts ct6e-standard-4t"},
		"topology of a box":          {"v5p-2x2x4", "v5p-2x2x4 4 hosts ct5p-hightpu-4t"},
		"a box that is not listed":   {"v5p-4x4x12", "v5p-4x4x12 48 hosts ct5p-hightpu-4t"},
		"the largest v5p job":        {"v5p-16x16x24", "v5p-16x16x24 1536 hosts ct5p-hightpu-4t"},
		"the largest v4":             {"v4-4x4x256", "v4-4x4x256 1024 hosts ct4p-hightpu-4t"},
		"the largest tpu7x":          {"tpu7x-16x24x24:spot", "tpu7x-16x24x24:spot 2304 hosts tpu7x-standard-4t"},
		"v5p with one host":          {"v5p-4", "v5p-2x2x1 1 host ct5p-hightpu-4t"},
		"v6e up to 256":              {"v6e-256", "v6e-16x16 64 hosts ct6e-standard-4t"},
		"2x4 on one host by default": {"v5e-2x4", "v5e-2x4 1 host ct5lp-hightpu-8t"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tt.text, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if parsed(got) != tt.want {
				t.Errorf("Parse(%q) = %s, want %s", tt.text, parsed(got), tt.want)
			}
		})
	}
}

func TestParseOptions(t *testing.T) {
	tests := map[string]struct {
		text    string
		options Options
		want    string
	}{
		"spot by option":                  {"l4", Options{Spot: true}, "l4:spot 1 host g2-standard-4"},
		"spot by option and by text":      {"l4:spot", Options{Spot: true}, "l4:spot 1 host g2-standard-4"},
		"spot by option on cpu":           {"cpu", Options{Spot: true}, "cpu:spot 1 host"},
		"lws takes several hosts, v5e":    {"v5e-2x4", Options{Backend: api.BackendLWS}, "v5e-2x4 2 hosts ct5lp-hightpu-4t"},
		"lws takes several hosts, v6e":    {"v6e-8", Options{Backend: api.BackendLWS}, "v6e-2x4 2 hosts ct6e-standard-4t"},
		"lws and a default":               {"v6e", Options{Backend: api.BackendLWS}, "v6e-2x4 2 hosts ct6e-standard-4t"},
		"lws and a shorthand":             {"tpu:8", Options{Backend: api.BackendLWS}, "v6e-2x4 2 hosts ct6e-standard-4t"},
		"lws where there is one host":     {"v6e-4", Options{Backend: api.BackendLWS}, "v6e-2x2 1 host ct6e-standard-4t"},
		"lws where there are always many": {"v6e-16", Options{Backend: api.BackendLWS}, "v6e-4x4 4 hosts ct6e-standard-4t"},
		"lws and a GPU":                   {"l4x8", Options{Backend: api.BackendLWS}, "l4x8 1 host g2-standard-96"},
		"gke takes one host":              {"v6e-8", Options{Backend: api.BackendGKE}, "v6e-2x4 1 host ct6e-standard-8t"},
		"local takes one host":            {"v6e-8", Options{Backend: api.BackendLocal}, "v6e-2x4 1 host ct6e-standard-8t"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tt.text, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if parsed(got) != tt.want {
				t.Errorf("Parse(%q, %+v) = %s, want %s", tt.text, tt.options, parsed(got), tt.want)
			}
		})
	}
}

func TestParseFillsEveryField(t *testing.T) {
	usd := func(v float64) *float64 { return &v }
	tests := map[string]api.Accelerator{
		"cpu": {Kind: api.CPU, Name: "cpu", Hosts: 1},
		"l4x2:spot": {Kind: api.GPU, Name: "l4", Chips: 2, Hosts: 1, ChipsPerHost: 2, MachineType: "g2-standard-24",
			Spot: true, Resource: "nvidia.com/gpu", Label: "nvidia-l4", PricePerHour: usd(0.79)},
		"gb300": {Kind: api.GPU, Name: "gb300", Chips: 4, Hosts: 1, ChipsPerHost: 4, MachineType: "a4x-maxgpu-4g-metal",
			Resource: "nvidia.com/gpu", Label: "nvidia-gb300", Arch: "arm64"},
		"v6e-8": {Kind: api.TPU, Name: "v6e", Topology: "2x4", Chips: 8, Hosts: 1, ChipsPerHost: 8, MachineType: "ct6e-standard-8t",
			Resource: "google.com/tpu", Label: "tpu-v6e-slice", PricePerHour: usd(21.6)},
		"v5p-16:spot": {Kind: api.TPU, Name: "v5p", Topology: "2x2x4", Chips: 16, Hosts: 4, ChipsPerHost: 4, MachineType: "ct5p-hightpu-4t",
			Spot: true, Resource: "google.com/tpu", Label: "tpu-v5p-slice", PricePerHour: usd(14.88)},
		"t4:spot": {Kind: api.GPU, Name: "t4", Chips: 1, Hosts: 1, ChipsPerHost: 1, MachineType: "n1-standard-4",
			Spot: true, Resource: "nvidia.com/gpu", Label: "nvidia-tesla-t4"},
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			got, err := Parse(text, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseGivesEachCallerItsOwnPrice(t *testing.T) {
	first, err := Parse("l4", Options{})
	if err != nil {
		t.Fatal(err)
	}
	*first.PricePerHour = 99
	second, err := Parse("l4", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if *second.PricePerHour != 0.71 {
		t.Errorf("the price of l4 is %v after somebody changed theirs", *second.PricePerHour)
	}
}
