package run

import (
	"path/filepath"
	"slices"
	"testing"
)

// What a job left is not packaged with the next one; the code is, wherever that goes.
func TestFetchedTo(t *testing.T) {
	cwd := filepath.FromSlash("/home/me/project")
	for dir, want := range map[string][]string{
		"":                  nil,
		"out":               {"/home/me/project/out"},
		"a/out/":            {"/home/me/project/a/out"},
		"../out":            {"/home/me/out"},
		"/tmp/out":          {"/tmp/out"},
		".":                 nil,
		"..":                nil,
		"/home/me/project/": nil,
		"/home/me/projects": {"/home/me/projects"},
	} {
		got := fetchedTo(cwd, dir)
		for i := range got {
			got[i] = filepath.ToSlash(got[i])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", dir, got, want)
		}
	}
}
