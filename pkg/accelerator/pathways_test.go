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
