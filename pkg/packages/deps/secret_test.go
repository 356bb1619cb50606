package deps

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestHasSecret(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"--index-url https://me:pass@h/simple":          true,
		"https://token@h/simple":                        true,
		"https://token:@h/simple":                       true,
		"https://${USER}:pass@h/simple":                 true,
		"https://h https://me:pass@h/simple":            true,
		"https://me:${PASSWORD}@h/simple":               false,
		"https://${TOKEN}@h/simple":                     false,
		"https://h/simple":                              false,
		"x @ git+ssh://git@github.com/x/y@v1":           false,
		"x @ git+https://github.com/x/y@v1#egg=me:pass": false,
	} {
		if got := hasSecret(text); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

// TestWarnsOfCredentials: before anything is uploaded, and once for every file.
func TestWarnsOfCredentials(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		archive string
		above   bool // the file is above the package root
		want    []string
	}{
		"an index":               {"-- requirements.txt --\n--index-url https://me:hush@h/simple\n--extra-index-url https://me:hush@h/other\na\n", false, []string{"requirements.txt has credentials in a URL, and is uploaded with the code if it is not ignored: put them into ~/.netrc"}},
		"variables":              {"-- requirements.txt --\n--index-url https://${USER}:${PASSWORD}@h/simple\na\n", false, nil},
		"a URL":                  {"-- requirements.txt --\na @ https://me:hush@h/a.whl\n", false, []string{"requirements.txt has"}},
		"what is left out":       {"-- requirements.txt --\njax @ https://me:hush@h/a.whl\n", false, []string{"requirements.txt has"}},
		"constraints":            {"-- requirements.txt --\n-c limits.txt\na\n-- limits.txt --\na @ git+https://token@h/a\n", false, []string{"limits.txt has"}},
		"settings beside a lock": {"-- pyproject.toml --\n[tool.uv]\nindex-url = 'https://me:hush@h/simple'\n-- uv.lock --\nversion = 1\n", false, []string{"pyproject.toml has"}},
		"above the package":      {"-- requirements.txt --\na @ https://me:hush@h/a.whl\n-- sub/x.py --\n", true, []string{"requirements.txt has credentials in a URL, which everyone with the file can read: put"}},
	} {
		o := at(project(t, c.archive), ".")
		if c.above {
			o.Root = filepath.Join(o.Root, "sub")
			o.EntryDir = o.Root
		}
		w, err := Find(o)
		if err != nil || len(w.Warnings) != len(c.want) {
			t.Errorf("%s: warnings %q, %v", name, w.Warnings, err)
			continue
		}
		for i, want := range c.want {
			if got := w.Warnings[i]; !strings.Contains(got, want) || strings.Contains(got, "hush") || strings.Contains(got, "token@") {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	}
}
