package accelerator

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// FuzzParse checks that no text makes Parse panic, that an error has one line and
// begins with the text it is about, and that a shape is consistent and spelled so
// that it can be read back.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"cpu", "gpu", "tpu:8", "32", "l4x04", "nvidia-h100-80gbx8", "rtx-pro-6000x2:spot",
		"v6e-8", "tpu-v5litepod-2x4:spot", "v5p-4x4x12", "tpu7x-99999999999999999999", "v3-8", "gpu-v3", "l4-4", "l4:4:spot", "v5e-²", "\xff", ""} {
		f.Add(text, false, false)
	}
	f.Add("v6e", true, true)
	f.Fuzz(func(t *testing.T, text string, spot, several bool) {
		o := Options{Spot: spot}
		if several {
			o.Backend = api.BackendLWS
		}
		a, err := Parse(text, o)
		if err != nil {
			if message := err.Error(); !strings.HasPrefix(message, "accelerator \"") || strings.Contains(message, "\n") {
				t.Errorf("%q: %s", text, message)
			}
			return
		}
		if spot && !a.Spot {
			t.Errorf("%q lost its spot", text)
		}
		checkShape(t, a)
		checkRoundTrip(t, a, o)
		if Describe(a) == "" {
			t.Errorf("%q has no description", text)
		}
	})
}
