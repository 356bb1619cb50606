package deps

import (
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
