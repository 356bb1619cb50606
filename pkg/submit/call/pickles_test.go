package call

import (
	"io"
	"strings"
	"testing"
)

// Inputs of a pickled call are pickles in base64; the first that is none is told.
func TestInputsThatArePickles(t *testing.T) {
	const pickle = `"gAVLAS4="`
	for text, want := range map[string]int{
		pickle: 0, pickle + "\n" + pickle: 0, pickle + "\n1": 2, pickle + "\n\"\"\n1": 2, `"x"`: 1, `"S0tL"`: 1, `["gAVLAS4="]`: 1, `"gAVLAS4"`: 1,
	} {
		if in, err := ReadInputs(strings.NewReader(text), io.Discard); err != nil || in.Other != want {
			t.Errorf("%q: got %d, %v, want %d", text, in.Other, err, want)
		}
	}
}
