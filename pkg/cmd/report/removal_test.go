package report

import (
	"bytes"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

// The removal of little is not shown; of much, that of all jobs together.
func TestRemoval(t *testing.T) {
	var said bytes.Buffer
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := NewRemoval(ui.New(&said, func() time.Time { now = now.Add(time.Minute); return now }))
	one, other := r.OfJob(), r.OfJob()
	one(1, manyObjects-1)
	other(1, 1)
	other(1, 1)
	one(manyObjects-1, manyObjects-1)
	r.Done()
	if want := "removing    2/500 objects\nremoving    500/500 objects\n"; said.String() != want {
		t.Errorf("said %q, want %q", said.String(), want)
	}
}
