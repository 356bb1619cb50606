package jobs

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// late is a store that gets the result of input 1 when it is asked for it the third time.
type late struct {
	store.Store
	asked int
}

func (s *late) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if name == store.ResultOf("m-1", 1) {
		if s.asked++; s.asked == 3 {
			if err := s.Create(ctx, name, strings.NewReader(`{"version":1,"ok":true,"value":7}`), nil); err != nil {
				return nil, err
			}
		}
	}
	return s.Store.Open(ctx, name)
}

// The result of an input ends the waiting while the map runs on.
func TestWaitForInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, err := store.OpenFile("file://" + t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		s := &late{Store: dir}
		j := job.Registry{Backend: jobtest.Backend{State: api.Running}, Store: s}.Job(api.Handle{JobID: "m-1", Backend: api.BackendGKE, Map: &api.Map{Inputs: 2}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := waitForInput(ctx, j, 1, time.Millisecond); err != nil || s.asked != 3 {
			t.Errorf("asked %d times: %v", s.asked, err)
		}
		brief, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := waitForInput(brief, j, 0, time.Millisecond); err == nil {
			t.Error("an input without a result ended the waiting")
		}
	})
}
