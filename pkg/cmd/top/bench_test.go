package top

import (
	"fmt"
	"testing"
)

// A screen of a thousand jobs is drawn several times a second.
func BenchmarkScreen(b *testing.B) {
	m := New(Model{})
	for n := range 1000 {
		e := running(fmt.Sprintf("job-%d", n), n, 1)
		m.jobs[KeyOf(e)] = &known{entry: e}
	}
	for b.Loop() {
		m.Screen(140, 50, noon)
	}
}
