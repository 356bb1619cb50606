package resolve_test

import (
	"slices"
	"strings"
	"testing"
)

// TestPipTriesAgain: the user sees which index does not answer, and neither credentials nor the value of a variable.
func TestPipTriesAgain(t *testing.T) {
	t.Parallel()
	const token = "t0ken-in-path"
	r, target := pip(t, "PIP_RETRIES=1", "TOKEN="+token)
	var shown []string
	r.Show = func(what string) { shown = append(shown, what) }
	w := requirements(t, "--index-url http://me:"+secret+"@127.0.0.1:1/${TOKEN}/simple", "a")
	w.Target = target
	if _, err := r.Resolve(t.Context(), w); err == nil || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), token) {
		t.Errorf("got %v", err)
	}
	if want := []string{"resolving with pip", "http://127.0.0.1:1/${TOKEN}/simple does not answer; pip is retrying"}; !slices.Equal(shown, want) {
		t.Errorf("shown %q, want %q", shown, want)
	}
}
