package deps

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamesOfProjectsAndIndexes(t *testing.T) {
	dir := project(t, "-- pyproject.toml --\n[project]\nname = 'My_App'\ndependencies = ['a']\n"+
		"[[tool.uv.index]]\nname = 'inner'\nurl = 'https://one/simple'\n[[tool.uv.index]]\nurl = 'https://two/simple'\n"+
		"-- uv.lock --\nversion = 1\n")
	w, err := Find(at(dir, "."))
	if err != nil || w.Kind != UVLock {
		t.Fatal(w.Kind, err)
	}
	if w.ProjectName != "My_App" {
		t.Errorf("the project is %q", w.ProjectName)
	}
	if diff := cmp.Diff(map[string]string{"https://one/simple": "inner"}, w.IndexNames); diff != "" {
		t.Error(diff)
	}
}

// TestMembersOfAWorkspace: their code is found as that of the project is, if uv would install them.
func TestMembersOfAWorkspace(t *testing.T) {
	dir := project(t, "-- pyproject.toml --\n[project]\nname = 'app'\n-- uv.lock --\nversion = 1\n"+
		"[[package]]\nname = 'app'\nsource = { editable = '.' }\n[[package]]\nname = 'lib'\nsource = { editable = 'packages/lib' }\n"+
		"[[package]]\nname = 'copied'\nsource = { directory = 'copied' }\n[[package]]\nname = 'tools'\nsource = { virtual = 'tools' }\n"+
		"[[package]]\nname = 'x'\nsource = { registry = 'https://pypi.org/simple' }\n")
	w, err := Find(at(dir, "."))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{dir, filepath.Join(dir, "packages", "lib"), filepath.Join(dir, "copied")}
	if diff := cmp.Diff(want, w.LocalDirs); diff != "" {
		t.Error(diff)
	}
	if _, err := Find(at(project(t, "-- pyproject.toml --\n-- uv.lock --\n[[package]]\nname = 'x'\nsource = { editable = 3 }\n"), ".")); err == nil {
		t.Error("a lock that can't be read gives no error")
	}
}

// TestExplicitIndexes: only packages that name such an index come from it, so that it is not asked for others.
func TestExplicitIndexes(t *testing.T) {
	const archive = "-- pyproject.toml --\n[project]\nname = 'app'\n[[tool.uv.index]]\nname = 'inner'\nurl = 'https://one'\nexplicit = true\n"
	for lock, want := range map[string]int{"": 0, "-- uv.lock --\n": 1} {
		w, err := Find(at(project(t, archive+lock), ""))
		if err != nil || len(w.Options) != want || len(w.IndexNames) != want {
			t.Errorf("with %q: %q, %v, %v", lock, w.Options, w.IndexNames, err)
		}
	}
}
