package accelerator

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestPathwaysInstance(t *testing.T) {
	for text, want := range map[string]string{
		"v4-2x2x2": "tpuv4:2x2x2", "v5e-16": "tpuv5e:4x4", "v5e-8": "tpuv5e:2x4", "v5p-16": "tpuv5:2x2x4", "v6e-16": "tpuv6e:4x4",
		"v6e-4": "tpuv6e:2x2", "tpu7x-2x2x2": "tpu7x:2x2x2", "v3-16": "", "v6e-1": "", "l4x2": "", "cpu": "",
	} {
		a, err := Parse(text, Options{Backend: api.BackendPathways})
		if err != nil {
			t.Fatal(err)
		}
		if got := PathwaysInstance(a); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestCheckPathways(t *testing.T) {
	for text, want := range map[string]string{
		"v6e-16": "", "v5e-4": "",
		"l4":    "--backend pathways is for TPUs (v4, v5e, v5p, v6e, tpu7x), but --accelerator is l4: use --backend lws",
		"v3-16": "--backend pathways supports v4, v5e, v5p, v6e, tpu7x TPUs with 2 chips or more, but --accelerator is v3-4x4: choose another, or use --backend lws",
	} {
		a, err := Parse(text, Options{Backend: api.BackendPathways})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := CheckPathways(a); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
