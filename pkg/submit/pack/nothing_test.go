package pack_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// Where a home directory would be refused, nothing of it is packaged, and nothing in it counts.
func TestNothing(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, "home/.ssh/id", "home/lib/mod.py", "home/"+pack.IgnoreFile)
	home := filepath.Join(dir, "home")
	o := pack.ProjectOptions{EntryDir: home, Cwd: home, Home: home, PythonPath: "lib"}
	if _, err := pack.FindProject(o); err == nil {
		t.Fatal("a home directory is not refused")
	}
	o.OrNothing = true
	layout, err := pack.FindProject(o)
	if err != nil || !layout.Nothing || layout.PythonPath != nil || layout.Contains(filepath.Join(home, "lib")) {
		t.Errorf("got %+v, %v", layout, err)
	}
	plan, err := pack.PlanProject(t.Context(), layout, pack.PlanOptions{})
	if err != nil || len(plan.Index.Files) > 0 || plan.SHA256 == "" || len(plan.Warnings) != 1 ||
		!strings.HasPrefix(plan.Warnings[0], "nothing but the payload is sent: the working directory is "+home) {
		t.Errorf("got %+v, %v", plan, err)
	}
	o.PackageRoot, o.PackageRootFrom = "~", "--package-root"
	if layout, err := pack.FindProject(o); err != nil || layout.Nothing {
		t.Errorf("a home that is named: got %+v, %v", layout, err)
	}
	o.PackageRoot, o.EntryDir = "", filepath.Join(home, "lib")
	if layout, err := pack.FindProject(o); err != nil || layout.Nothing {
		t.Errorf("a directory in it: got %+v, %v", layout, err)
	}
}
