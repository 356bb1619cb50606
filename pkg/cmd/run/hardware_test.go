package run

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// What is about to be occupied is one line, with the price of all of it.
func TestHardware(t *testing.T) {
	for name, c := range map[string]struct {
		accelerator string
		change      func(*api.Spec)
		want        string
	}{
		"a GPU":          {"l4", func(*api.Spec) {}, "l4: 1 GPU on 1 host (g2-standard-4), about $0.76 an hour"},
		"a slice":        {"v5p-8", func(*api.Spec) {}, "v5p 2x2x2: 8 chips on 2 hosts (ct5p-hightpu-4t; Google Cloud: v5p-16), about $33.60 an hour"},
		"several":        {"v5p-8", func(s *api.Spec) { s.Hosts, s.Slices = 4, 2 }, "2 × v5p 2x2x2: 8 chips on 2 hosts (ct5p-hightpu-4t; Google Cloud: v5p-16), about $67.20 an hour"},
		"no price":       {"b200", func(*api.Spec) {}, "b200: 8 GPUs on 1 host (a4-highgpu-8g), price unknown"},
		"a map":          {"l4", func(s *api.Spec) { s.Map = &api.Map{Inputs: 100, Chunk: 10, Parallelism: 4} }, "l4: 1 GPU on 1 host (g2-standard-4), about $0.76 an hour for each of up to 4 pods"},
		"a map of one":   {"l4", func(s *api.Spec) { s.Map = &api.Map{Inputs: 9, Chunk: 10, Parallelism: 4} }, "l4: 1 GPU on 1 host (g2-standard-4), about $0.76 an hour"},
		"no accelerator": {"cpu", func(*api.Spec) {}, ""},
		"this machine":   {"l4", func(s *api.Spec) { s.Backend = api.BackendLocal }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			acc, err := accelerator.Parse(c.accelerator, accelerator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := api.Spec{Accelerator: acc, Placement: api.Placement{Backend: api.BackendGKE, Hosts: acc.Hosts, Slices: 1}}
			c.change(&s)
			if got := hardware(s); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
