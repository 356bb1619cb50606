package accelerator

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
)

// checkShape reports what no shape may be.
func checkShape(t *testing.T, a api.Accelerator) {
	t.Helper()
	if a.Hosts < 1 || a.Hosts*a.ChipsPerHost != a.Chips {
		t.Errorf("%+v: %d hosts of %d chips are not %d chips", a, a.Hosts, a.ChipsPerHost, a.Chips)
	}
	if (a.Topology != "") != (a.Kind == api.TPU) {
		t.Errorf("%+v: topology %q of a %s", a, a.Topology, a.Kind)
	}
	if dims, ok := parseTopology(a.Topology); a.Kind == api.TPU && (!ok || dims.chips() != a.Chips) {
		t.Errorf("%+v: %s is not %d chips", a, a.Topology, a.Chips)
	}
	if a.Kind == api.GPU && a.Hosts != 1 {
		t.Errorf("%+v: GPUs on several hosts", a)
	}
	resources := map[api.AcceleratorKind]string{api.CPU: "", api.GPU: "nvidia.com/gpu", api.TPU: "google.com/tpu"}
	if resource, ok := resources[a.Kind]; !ok || a.Resource != resource {
		t.Errorf("%+v: resource %q of a %s", a, a.Resource, a.Kind)
	}
	if hasMachine := a.Kind != api.CPU; (a.MachineType != "") != hasMachine || (a.Label != "") != hasMachine {
		t.Errorf("%+v: machine type or label", a)
	}
	if a.PricePerHour != nil && *a.PricePerHour <= 0 {
		t.Errorf("%+v: price %v", a, *a.PricePerHour)
	}
}

// checkRoundTrip reports a shape that is another one once its text was read.
func checkRoundTrip(t *testing.T, a api.Accelerator, o Options) {
	t.Helper()
	again, err := Parse(Text(a), o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, again); diff != "" {
		t.Errorf("%s is another shape when it is read back (-want +got):\n%s", Text(a), diff)
	}
}

func TestCatalogueShapes(t *testing.T) {
	for _, a := range Catalogue() {
		checkShape(t, a)
		// Listed twice: on one host, and on several with lws.
		o := Options{}
		if a.Topology == "2x4" && a.Hosts == 2 {
			o.Backend = api.BackendLWS
		}
		checkRoundTrip(t, a, o)
		o.Spot, a.Spot = true, true
		spot, err := Parse(Text(a), o)
		if err != nil {
			t.Fatal(err)
		}
		checkShape(t, spot)
		checkRoundTrip(t, spot, o)
	}
}

func TestCatalogueGolden(t *testing.T) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, a := range Catalogue() {
		spot, err := Parse(Text(a), Options{Spot: true})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(w, strings.Join([]string{Text(a), a.Short(), a.Label, a.Resource, price(a), price(spot), PriceBasis(a), Describe(a)}, "\t|"))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/catalogue.golden", b.String())
}

func price(a api.Accelerator) string {
	if a.PricePerHour == nil {
		return "?"
	}
	return fmt.Sprint(*a.PricePerHour)
}

// TestLabels has the values of GKE's autoscaler once more, apart from the data.
func TestLabels(t *testing.T) {
	want := map[string]string{
		"l4": "nvidia-l4", "t4": "nvidia-tesla-t4", "v100": "nvidia-tesla-v100", "p4": "nvidia-tesla-p4",
		"p100": "nvidia-tesla-p100", "a100": "nvidia-tesla-a100", "a100-80gb": "nvidia-a100-80gb",
		"h100": "nvidia-h100-80gb", "h100-mega": "nvidia-h100-mega-80gb", "h200": "nvidia-h200-141gb",
		"b200": "nvidia-b200", "gb200": "nvidia-gb200", "gb300": "nvidia-gb300", "rtx-pro-6000": "nvidia-rtx-pro-6000",
		"v3": "tpu-v3-slice", "v4": "tpu-v4-podslice", "v5e": "tpu-v5-lite-podslice", "v5p": "tpu-v5p-slice",
		"v6e": "tpu-v6e-slice", "tpu7x": "tpu7x", "cpu": "",
	}
	seen := map[string]bool{}
	for _, a := range Catalogue() {
		label := want[a.Name]
		if a.Name == "v3" && a.Hosts == 1 {
			label = "tpu-v3-device"
		}
		if a.Label != label {
			t.Errorf("%s has the label %q, want %q", Text(a), a.Label, label)
		}
		seen[a.Name] = true
	}
	if len(seen) != len(want) {
		t.Errorf("%d names in the catalogue, want %d", len(seen), len(want))
	}
}

// TestDocumentedSlices has Google's lists of topologies and hosts once more.
func TestDocumentedSlices(t *testing.T) {
	upTo256 := "1x1:1 2x2:1 2x4:1 2x4:2 4x4:4 4x8:8 8x8:16 8x16:32 16x16:64"
	boxes := "2x2x1:1 2x2x2:2 2x2x4:4 2x4x4:8 4x4x4:16 4x4x8:32 4x8x8:64 8x8x8:128 8x8x16:256 8x16x16:512"
	want := map[string]string{
		"v3":    "2x2:1 4x4:4 4x8:8 8x8:16 8x16:32 16x16:64 16x32:128 32x32:256",
		"v4":    boxes + " 16x16x16:1024",
		"v5e":   upTo256,
		"v5p":   boxes + " 16x16x16:1024",
		"v6e":   upTo256,
		"tpu7x": "1x1x1:1 " + boxes,
	}
	got := map[string]string{}
	for _, a := range Catalogue() {
		if a.Kind == api.TPU {
			got[a.Name] = strings.TrimSpace(fmt.Sprintf("%s %s:%d", got[a.Name], a.Topology, a.Hosts))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCountsNameOneShape checks what makes a count an answer: a family has one
// topology for it.
func TestCountsNameOneShape(t *testing.T) {
	seen := map[string]string{}
	for _, a := range Catalogue() {
		other, ok := seen[a.Short()]
		if ok && other != a.Topology {
			t.Errorf("%s is %s and %s", a.Short(), other, a.Topology)
		}
		seen[a.Short()] = a.Topology
	}
}

func TestEveryNameStandsForItself(t *testing.T) {
	for _, listed := range Catalogue() {
		a, err := Parse(listed.Name, Options{})
		if err != nil {
			t.Error(err)
		} else if a.Name != listed.Name {
			t.Errorf("%s parses to %s", listed.Name, a.Name)
		}
	}
}

// TestShorthandsNameShapes finds a line of shorthands.txt that stands for
// nothing, or that isn't written without a default.
func TestShorthandsNameShapes(t *testing.T) {
	for short, full := range builtin().shorthands {
		a, err := Parse(full, Options{})
		if err != nil {
			t.Errorf("%s: %v", short, err)
			continue
		}
		kind, n, counted := strings.Cut(short, ":")
		if string(a.Kind) != kind {
			t.Errorf("%s is a %s", short, a.Kind)
		}
		if counted && fmt.Sprint(a.Chips) != n {
			t.Errorf("%s has %d chips", short, a.Chips)
		}
	}
}

func TestOffers(t *testing.T) {
	all := Offers()
	if len(all) != len(Catalogue())-1 { // without cpu
		t.Fatalf("%d offers", len(all))
	}
	memory := map[string]int{}
	for i, o := range all {
		if a := Catalogue()[i+1]; o.MachineType != a.MachineType || o.Topology != a.Topology || o.Chips != a.Chips {
			t.Errorf("offer %d is %s, want %s", i, Text(o.Accelerator), Text(a))
		}
		if read, err := Parse(o.Text, Options{}); err != nil || read.Chips != o.Chips || read.Name != o.Name {
			t.Errorf("%s is read as %+v, %v", o.Text, read, err)
		}
		if (o.PricePerHour != nil) != (o.Region != "") {
			t.Errorf("%s: price %v in %q", o.Text, o.PricePerHour, o.Region)
		}
		if other := memory[o.Name]; other != 0 && other != o.ChipGB {
			t.Errorf("%s has %d and %d GB", o.Name, other, o.ChipGB)
		}
		memory[o.Name] = o.ChipGB
	}
}
