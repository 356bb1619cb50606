package deps

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestLockOfAScript: a warning names the lock beside a script, which is not read, and what to do.
func TestLockOfAScript(t *testing.T) {
	const text = "-- app/x.py --\n# /// script\n# dependencies = ['a']\n# ///\n"
	const want = "app/x.py.lock is not read, because app/x.py is: for its versions, run uv export --script app/x.py -o FILE, and add --requirements FILE"
	for archive, warns := range map[string]bool{
		text: false, text + "-- app/x.py.lock --\n": true,
		strings.Replace(text, "'a'", "", 1) + "-- app/x.py.lock --\n": false,
	} {
		o := at(project(t, archive), "app")
		o.Script = filepath.Join(o.Root, "app", "x.py")
		w, err := Find(o)
		if got := strings.Join(w.Warnings, "\n"); err != nil || (got == want) != warns || !warns && got != "" {
			t.Errorf("%s: warnings %q, %v", archive, got, err)
		}
		o.File = o.Script
		if w, err := Find(o); err != nil || len(w.Warnings) > 0 {
			t.Errorf("%s, named: warnings %q, %v", archive, w.Warnings, err)
		}
	}
}
