package resolver_test

import (
	"slices"
	"testing"
)

// TestPipTriesAgain: the user sees which index does not answer.
func TestPipTriesAgain(t *testing.T) {
	t.Parallel()
	r, target := pip(t, "PIP_RETRIES=1")
	var shown []string
	r.Show = func(what string) { shown = append(shown, what) }
	w := requirements(t, "--index-url http://me:"+secret+"@127.0.0.1:1/simple", "a")
	w.Target = target
	if _, err := r.Resolve(t.Context(), w); err == nil {
		t.Error("no error")
	}
	if want := []string{"http://127.0.0.1:1/simple does not answer pip, which tries again"}; !slices.Equal(shown, want) {
		t.Errorf("shown %q, want %q", shown, want)
	}
}
