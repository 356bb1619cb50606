package submit

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestBudget(t *testing.T) {
	one, err := accelerator.Parse("l4", accelerator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l4, _, known := (price.Table{}).Accelerator(one, "us-central1")
	if !known {
		t.Fatal("the price of l4 is not known")
	}
	hours := func(usd, perHour float64) time.Duration {
		return time.Duration(usd / perHour * float64(time.Hour)).Truncate(time.Second)
	}
	for name, c := range map[string]struct {
		accelerator string
		hosts       int
		maxCost     float64
		capacity    api.CapacityKind
		want        time.Duration
		err         string
	}{
		"no limit":              {"l4", 1, 0, "", 0, ""},
		"one host":              {"l4", 1, 5, "", hours(5, l4), ""},
		"two hosts cost double": {"l4", 2, 5, "", hours(5, 2*l4), ""},
		"a fortune":             {"l4", 1, 1e9, "", hours(1e6, 1).Truncate(time.Hour), ""},
		"less than a minute":    {"l4", 1, 0.0001, "", 0, "--max-cost 0.0001 pays for less than a minute of l4, which costs $"},
		"of several machines":   {"l4", 4, 0.0001, "", 0, "--max-cost 0.0001 pays for less than a minute of 4 × l4, which costs $"},
		"no price":              {"cpu", 1, 5, "", 0, "--max-cost $5.00: the price of cpu is unknown: use --max-runtime, or put the price into the file that KINETIC_PRICES names"},
		"no price of flex-start": {"l4", 1, 5, api.CapacityFlexStart, 0,
			"--max-cost $5.00: the price of l4 is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			acc, err := accelerator.Parse(c.accelerator, accelerator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := api.Spec{Placement: api.Placement{Accelerator: acc, Capacity: api.Capacity{Kind: c.capacity}}, Zone: "us-central1-a"}
			s.Hosts, s.AcceleratorText, s.MaxCost = c.hosts, c.accelerator, c.maxCost
			got, err := budget(s, price.Table{})
			if !strings.HasPrefix(message(err), c.err) || (err == nil) != (c.err == "") {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if name == "a fortune" {
				if got < c.want {
					t.Errorf("got %s, want at least %s", got, c.want)
				}
				return
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// A pod that needs a larger machine than its GPUs come with costs more than they do.
func TestPriceDoubts(t *testing.T) {
	const more = ": the pod needs a machine with more GPUs than "
	for name, c := range map[string]struct {
		accelerator, cpu, memory string
		capacity                 api.CapacityKind
		want                     string
	}{
		"as it is":              {"l4", "", "", "", ""},
		"the largest with one":  {"l4", "32", "128Gi", "", ""},
		"more processors":       {"l4", "64", "16Gi", "", "--cpu 64" + more + "l4, which costs more; the prices shown and --max-cost are those of l4"},
		"more of both":          {"a100", "16", "100Gi", "", "--cpu 16 and --memory 100Gi" + more + "a100"},
		"more memory":           {"l4", "", "129Gi", "", "--memory 129Gi" + more + "l4"},
		"of several GPUs":       {"l4x2", "24500m", "", "", "--cpu 24500m" + more + "l4x2"},
		"spot capacity":         {"l4", "64", "", api.CapacitySpot, "--cpu 64" + more + "l4"},
		"no price to exceed":    {"l4", "64", "", api.CapacityFlexStart, ""},
		"a class chooses":       {"l4", "64", "", api.CapacityClass, ""},
		"no accelerator":        {"cpu", "64", "", "", ""},
		"a TPU has one machine": {"v6e-8", "64", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			acc, err := accelerator.Parse(c.accelerator, accelerator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p := api.Placement{Accelerator: acc, CPU: c.cpu, Memory: c.memory, Capacity: api.Capacity{Kind: c.capacity}}
			got := strings.Join(priceDoubts(api.Request{Placement: p}, api.Spec{Placement: p}), "; ")
			if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
