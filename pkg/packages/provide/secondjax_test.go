package provide

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// TestSecondJAX: a JAX that a package brings hides the one of build-image.
func TestSecondJAX(t *testing.T) {
	const jax = "jax-0.9.0-py3-none-any.whl"
	for name, c := range map[string]struct {
		base, runtime, line, wheel string
		warns                      bool
		kind                       api.AcceleratorKind
	}{
		"a package brings it": {"r.example/acme", "", "flax", jax, true, api.GPU},
		"none does":           {"r.example/acme", "", "six", "six-1-py3-none-any.whl", false, api.GPU},
		"it is asked for":     {"r.example/acme", "jax", "flax", jax, false, api.GPU},
		"a line keeps it":     {"r.example/acme", "", "jax", jax, false, api.GPU},
		"none is wanted":      {"r.example/acme", "none", "flax", jax, false, api.GPU},
		"for CPUs":            {"r.example/acme", "", "flax", jax, false, api.CPU},
		"with the plugin":     {"r.example/acme", "", "flax", jax + " jax_cuda12_plugin-0.9.0-py3-none-any.whl", false, api.GPU},
		"another base":        {"", "", "flax", jax, false, api.GPU},
	} {
		plan, err := decide.New(decide.Input{
			Images: api.Images{BaseImageRepo: c.base, Runtime: c.runtime, ImageRepo: "r.example/env"}, Version: "v1",
			Wanted: deps.Wanted{Kind: deps.Requirements, Requirements: []deps.Line{{Text: c.line}}}, Accelerator: api.Accelerator{Kind: c.kind},
		})
		if err != nil {
			t.Fatal(err)
		}
		var wheels []wheel.Source
		for file := range strings.FieldsSeq(c.wheel) {
			wheels = append(wheels, wheel.Source{File: file})
		}
		got := secondJAX(plan, wheels)
		if (len(got) > 0) != c.warns || c.warns && !strings.Contains(got[0], "version 0.9.0 hides the one of the base image r.example/acme/base-gpu:v1") {
			t.Errorf("%s: warnings %q", name, got)
		}
	}
}
