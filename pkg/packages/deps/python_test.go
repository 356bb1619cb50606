package deps

import (
	"strings"
	"testing"
)

// TestPatchVersions: of a Python whose patch version is not known, nothing is claimed that may be wrong.
func TestPatchVersions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		full, requires, want string
	}{
		"known":                   {"3.12.7", ">=3.12.7", ""},
		"known, too old":          {"3.12.7", ">=3.12.8", "it requires Python >=3.12.8, but the job has Python 3.12.7: choose another with --python or --base-image"},
		"unknown, perhaps":        {"", ">=3.12.8,!=3.12.9", ""},
		"unknown, too old":        {"", ">=3.13", "but the job has Python 3.12: choose"},
		"unknown, too new":        {"", "<3.12", "but the job has Python 3.12: choose"},
		"a condition that is odd": {"", ">=x", "requires-python: "},
		"no condition":            {"", "", ""},
	} {
		o := lockOptions()
		o.FullPython = c.full
		err := o.CheckPython(c.requires)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	for full, want := range map[string]bool{"": true, "3.12.2": true, "3.12.3": false} { // of a backport
		o := lockOptions()
		o.FullPython = full
		if got, err := o.holds("python_full_version < '3.12.3'", o.Environment()); got != want || err != nil {
			t.Errorf("%q: got %v, %v", full, got, err)
		}
	}
}
