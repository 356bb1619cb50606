package diagnose

import "testing"

// A chain of errors says where it happened first, and why last.
func TestCutKeepsBothEnds(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"no room: it is full":                "no room: it is full",
		"can't start: task: shim: no memory": "can't sta…no memory",
		"größe größe größe größe größe größe":  "größe grö…öße größe",
		"can't  wait       a a a a a a memory": "can't  wa…a memory",
	} {
		if got := cut(text, 19); got != want {
			t.Errorf("%q is cut to %q, want %q", text, got, want)
		}
	}
}
