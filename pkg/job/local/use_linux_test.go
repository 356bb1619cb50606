package local

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestUse(t *testing.T) {
	f := newFixture(t)
	f.start(t, "line:ready", "pause")
	f.until(t, "ready")
	u, err := f.Use(t.Context(), jobID)
	if err != nil || u.CPU == nil || u.Memory == nil || *u.Memory < 1<<20 {
		t.Errorf("while it runs: %+v, %v", u, err)
	}
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if u, err := f.Use(t.Context(), jobID); u.CPU != nil || err == nil {
		t.Errorf("after it was deleted: %+v, %v", u, err)
	}
}
