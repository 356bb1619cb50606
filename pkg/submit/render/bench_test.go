package render

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// A slice of 256 hosts is one object, as one host is.
func BenchmarkRender(b *testing.B) {
	large := slice("v5p", "tpu-v5p-slice", "8x8x16", 256)
	for name, s := range map[string]api.Spec{
		"cpu":                   family["cpu"],
		"tpu with everything":   family["v6e-8-everything"],
		"one host of a TPU":     family["v6e-8"],
		"one host, as a set":    testSpec(v6e8, lws(1)),
		"256 hosts, as a set":   testSpec(large, lws(1)),
		"256 hosts, as one Job": testSpec(large),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Objects(s, Overlay{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
