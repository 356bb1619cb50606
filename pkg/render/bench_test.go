package render

import "testing"

func BenchmarkRender(b *testing.B) {
	for name, s := range map[string]string{"cpu": "cpu", "tpu with everything": "v6e-8-everything"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := render(family[s], Overlay{}, testRunner); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
