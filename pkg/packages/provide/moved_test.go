package provide_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// TestMovedProject: what was remembered of a project's own wheels is not used once the project is elsewhere.
func TestMovedProject(t *testing.T) {
	w := newWorld(t)
	const file = "six-1.0-py3-none-any.whl"
	line, old := w.wheel("six", "1.0", "x = 1"), filepath.Join(t.TempDir(), "old")
	w.must(os.MkdirAll(filepath.Join(old, "wheels"), 0o700))
	w.must(os.WriteFile(filepath.Join(old, "wheels", file), w.files[file], 0o600))
	w.must(os.WriteFile(filepath.Join(old, "requirements.txt"), []byte("--no-index\n--find-links wheels\n"+line), 0o600))
	plan := func(root string, change ...func(*decide.Input)) decide.Plan {
		wanted, err := deps.Find(deps.Options{Root: root, EntryDir: root, Cwd: root, Home: root})
		w.must(err)
		in := decide.Input{Wanted: wanted, Root: root, Accelerator: api.Accelerator{Kind: api.CPU}, Images: api.Images{BaseImage: w.base(), ImageRepo: w.host() + "/acme/env"}}
		for _, c := range change {
			c(&in)
		}
		p, err := decide.New(in)
		w.must(err)
		return p
	}
	before := plan(old)
	w.mustProvide(before)
	moved := filepath.Join(filepath.Dir(old), "new")
	w.must(os.Rename(old, moved))
	after := plan(moved, func(in *decide.Input) { in.ImageRepo = w.host() + "/other/env" })
	if after.Key != before.Key {
		t.Error("the place of a project is in its key")
	}
	w.mustProvide(after)
	w.must(os.Rename(moved, old))
	var err error
	w.store, err = store.OpenFile("file://" + t.TempDir())
	w.must(err)
	if d := w.document(w.mustProvide(plan(old, prebuilt)).SHA256); len(d.Wheels) != 1 || d.Wheels[0].SHA256 != sum(w.files[file]) {
		t.Errorf("document %+v", d)
	}
}
