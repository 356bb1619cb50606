package jobs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// A submit that takes over many values of an older map has a handle for long, and no workload yet.
func TestSubmittedMapThatTakesValuesOver(t *testing.T) {
	for name, tt := range map[string]struct {
		inherited int
		age       time.Duration
		submits   bool
	}{
		"none":                   {0, 2 * time.Minute, false},
		"many":                   {100_000, 2 * time.Hour, true},
		"many, and it was ended": {100_000, 4 * time.Hour, false},
	} {
		dir := t.TempDir()
		s, err := store.OpenFile("file://" + dir)
		if err != nil {
			t.Fatal(err)
		}
		written := time.Now().Add(-tt.age)
		err = errors.Join(s.Create(t.Context(), store.Handle("a1"), strings.NewReader("{}"), nil), os.Chtimes(filepath.Join(dir, store.Handle("a1")), written, written))
		if err != nil {
			t.Fatal(err)
		}
		j := job.Registry{Store: s, Backend: jobtest.Backend{}}.Job(api.Handle{JobID: "a1", Map: &api.Map{Inputs: 100_000, Inherited: tt.inherited}})
		if err := checkSubmitted(t.Context(), j, api.Status{State: api.NotFound}); errors.As(err, new(newError)) != tt.submits {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
