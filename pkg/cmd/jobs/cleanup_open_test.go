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
		want      string // "" if it is cleaned up
	}{
		"none":                   {0, 2 * time.Minute, ""},
		"many, just now":         {100_000, time.Second, "job a1 was submitted just now"},
		"many":                   {100_000, 2 * time.Hour, "job a1 may still be taking over values of an older map; if its submit has ended, clean it up by its ID"},
		"many, and it was ended": {100_000, 4 * time.Hour, ""},
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
		var got newError
		if err := checkSubmitted(t.Context(), j, api.Status{State: api.NotFound}); err != nil && !errors.As(err, &got) || string(got) != tt.want {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
