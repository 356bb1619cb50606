package accelerator

import (
	"strings"
	"testing"
)

func TestComplete(t *testing.T) {
	for word, want := range map[string][]string{
		"l4":         {"l4", "l4x2", "l4x4", "l4x8", "l4:spot"},
		"tpu-v6e-25": {"tpu-v6e-256"},
		"v6e-2x":     {"v6e-2x2", "v6e-2x4"},
		"l4:s":       {"l4:spot"},
		"cpu":        {"cpu", "cpu:spot"},
		"x":          nil,
	} {
		var got []string
		for _, offer := range Complete(word) {
			text, about, _ := strings.Cut(offer, "\t")
			got = append(got, text)
			if _, err := Parse(text, Options{}); err != nil || about == "" {
				t.Errorf("%q: the offer %q: %v", word, offer, err)
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

// A node pool for cpu would be refused.
func TestCompletePoolOffersNoCPU(t *testing.T) {
	for word, want := range map[string]int{"cpu": 0, "c": 0, "l4": len(Complete("l4")), "": len(Complete("")) - 1} {
		if got := CompletePool(word); len(got) != want {
			t.Errorf("%q: got %q", word, got)
		}
	}
}
