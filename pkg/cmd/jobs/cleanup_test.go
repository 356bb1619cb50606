package jobs

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// Each job waits until all have begun, which no two of them ever have one after the other.
func TestForEachWorksOnManyAtATime(t *testing.T) {
	var out bytes.Buffer
	var begun sync.WaitGroup
	var found []*job.Job
	for _, id := range []string{"a1", "b2", "c3"} {
		found = append(found, &job.Job{Handle: api.Handle{JobID: id}})
		begun.Add(1)
	}
	refused := errors.New("refused")
	err := forEach(&out, found, func(j *job.Job) (string, error) {
		begun.Done()
		begun.Wait()
		switch j.ID() {
		case "a1":
			return "", refused
		case "b2":
			return "", nil
		}
		return "cleaned up", nil
	})
	if !errors.Is(err, refused) || err.Error() != "job a1: refused" {
		t.Errorf("got %v", err)
	}
	if out.String() != "c3 cleaned up\n" {
		t.Errorf("printed %q", &out)
	}
}

func TestQuestionOf(t *testing.T) {
	of := func(states ...api.State) (found []standing) {
		for i, s := range states {
			found = append(found, standing{&job.Job{Handle: api.Handle{JobID: fmt.Sprintf("a%d", i)}}, s})
		}
		return found
	}
	for want, got := range map[string]string{
		"job a0 would be cleaned up":                            questionOf(of(api.Failed), 0),
		"job a0 is PENDING and would be ended and cleaned up":   questionOf(of(api.Pending), 1),
		"2 jobs would be cleaned up":                            questionOf(of(api.Failed, api.NotFound), 0),
		"2 jobs would be cleaned up, and 1 of them ended first": questionOf(of(api.Failed, api.Running), 1),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
