package jobs

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// Each job waits until all have begun, so the test only ends if they are processed at the same time.
func TestForEachWorksOnManyAtATime(t *testing.T) {
	var out bytes.Buffer
	var begun sync.WaitGroup
	var found []*job.Job
	for _, id := range []string{"a1", "b2", "c3"} {
		found = append(found, &job.Job{Handle: api.Handle{JobID: id}})
		begun.Add(1)
	}
	refused := errors.New("refused")
	items, errs := answers{&out, false}.forEach(found, func(j *job.Job) (answer, error) {
		begun.Done()
		begun.Wait()
		switch j.ID() {
		case "a1":
			return answer{}, refused
		case "b2":
			return answer{item: 2}, nil
		}
		return answer{"cleaned up", 3}, nil
	})
	if !slices.Equal(items, []any{2, 3}) {
		t.Errorf("got %v", items)
	}
	if !errors.Is(errs[0], refused) || errs[0].Error() != "job a1: refused" || errs[1] != nil || errs[2] != nil {
		t.Errorf("got %v", errs)
	}
	if out.String() != "c3 cleaned up\n" {
		t.Errorf("printed %q", &out)
	}
}
