package run

import (
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// What is about to be occupied is one line, with the price of all of it.
func TestHardware(t *testing.T) {
	for name, c := range map[string]struct {
		accelerator string
		change      func(*api.Spec)
		want        string
	}{
		"a GPU":          {"l4", func(*api.Spec) {}, "l4: 1 GPU on 1 host (g2-standard-4), about $0.71 an hour (list price, us-central1, 2025-03)"},
		"a slice":        {"v5p-8", func(*api.Spec) {}, "v5p 2x2x2: 8 chips on 2 hosts (ct5p-hightpu-4t; Google Cloud: v5p-16), about $33.60 an hour (list price, us-central1, 2026)"},
		"another region": {"v6e-8", func(s *api.Spec) { s.Zone = "europe-west4-b" }, "v6e 2x4: 8 chips on 1 host (ct6e-standard-8t), about $23.76 an hour (list price, europe-west4, 2026)"},
		"several":        {"v5p-8", func(s *api.Spec) { s.Hosts, s.Slices = 4, 2 }, "2 × v5p 2x2x2: 8 chips on 2 hosts (ct5p-hightpu-4t; Google Cloud: v5p-16), about $67.20 an hour (list price, us-central1, 2026)"},
		"no price":       {"b200", func(*api.Spec) {}, "b200: 8 GPUs on 1 host (a4-highgpu-8g), price unknown"},
		"a map":          {"l4", func(s *api.Spec) { s.Map = &api.Map{Inputs: 100, Chunk: 10, Parallelism: 4} }, "l4: 1 GPU on 1 host (g2-standard-4), about $0.71 an hour (list price, us-central1, 2025-03) for each of up to 4 pods"},
		"a map of one":   {"l4", func(s *api.Spec) { s.Map = &api.Map{Inputs: 9, Chunk: 10, Parallelism: 4} }, "l4: 1 GPU on 1 host (g2-standard-4), about $0.71 an hour (list price, us-central1, 2025-03)"},
		"no accelerator": {"cpu", func(*api.Spec) {}, ""},
		"this machine":   {"l4", func(s *api.Spec) { s.Backend = api.BackendLocal }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			acc, err := accelerator.Parse(c.accelerator, accelerator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := api.Spec{Placement: api.Placement{Accelerator: acc, Backend: api.BackendGKE, Hosts: acc.Hosts, Slices: 1}}
			c.change(&s)
			if got := hardware(s, price.Table{}); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// At the end the price is that of the region that was shown at the beginning, also if the handle doesn't
// say where the cluster is.
func TestCostAtTheEnd(t *testing.T) {
	var out strings.Builder
	began := time.Date(2026, 4, 17, 12, 0, 0, 0, time.UTC)
	o := options{ui: ui.NewStyled(&out, time.Now, ui.Style{}), clock: clock.RealClock{}, target: config.Target{Zone: "europe-west4-b"}}
	j := &job.Job{Handle: api.Handle{Accelerator: "v6e-2x4", Hosts: 1}}
	o.noteCost(j, api.Status{State: api.Running, Attempt: 1, Started: began})
	o.noteCost(&job.Job{Handle: api.Handle{Accelerator: "cpu", Hosts: 1}}, api.Status{State: api.Succeeded, Attempt: 1, Started: began, Finished: began.Add(time.Hour)})
	o.noteCost(j, api.Status{State: api.Succeeded, Attempt: 1, Started: began, Finished: began.Add(time.Hour)})
	if want := "accelerator time: about 8.0 chip-hours, $23.76 (list price, europe-west4, 2026)\n"; out.String() != want {
		t.Errorf("got %q, want %q", &out, want)
	}
}
