package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
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
	errs := forEach(&out, found, func(j *job.Job) (string, error) {
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
	if !errors.Is(errs[0], refused) || errs[0].Error() != "job a1: refused" || errs[1] != nil || errs[2] != nil {
		t.Errorf("got %v", errs)
	}
	if out.String() != "c3 cleaned up\n" {
		t.Errorf("printed %q", &out)
	}
}

// Whoever interrupts a cleanup hears what failed before, and how to remove the rest: the
// same command doesn't find what it was given by id and is gone, nor by its state what has
// lost its workload meanwhile.
func TestInterruptedCleanup(t *testing.T) {
	stopped, forbidden := fmt.Errorf("job x: deleting: %w", context.Canceled), errors.New("job b2: forbidden")
	const same = "interrupted; the same command cleans up the rest"
	const byID = same + ", but for what may have lost its workload, which needs its id in place of the filters: a1\n"
	for name, tt := range map[string]struct {
		flags cleanupFlags
		named bool
		errs  []error
		want  string
	}{
		"all":                         {cleanupFlags{all: true, workload: true}, false, []error{stopped, nil, errNotBegun}, same + "\n"},
		"by state":                    {cleanupFlags{states: []string{"FAILED"}, workload: true}, false, []error{stopped, nil, errNotBegun}, byID},
		"by state, before any":        {cleanupFlags{states: []string{"FAILED"}, workload: true}, false, []error{nil, nil, errNotBegun}, same + "\n"},
		"by state, workloads stay":    {cleanupFlags{states: []string{"FAILED"}}, false, []error{stopped, nil, errNotBegun}, same + "\n"},
		"those without workload, too": {cleanupFlags{states: []string{"failed", "not_found"}, workload: true}, false, []error{stopped, nil, errNotBegun}, same + "\n"},
		"by id":                       {cleanupFlags{workload: true}, true, []error{stopped, nil, errNotBegun}, "interrupted; the same command with these ids alone cleans up the rest: a1 c3\n"},
		"after an error":              {cleanupFlags{all: true, workload: true}, false, []error{stopped, forbidden, errNotBegun}, "error: job b2: forbidden\n" + same + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var found []*job.Job
			for _, id := range []string{"a1", "b2", "c3"} {
				found = append(found, &job.Job{Handle: api.Handle{JobID: id}})
			}
			var said bytes.Buffer
			err := tt.flags.settle(&said, tt.named, found, tt.errs)
			if cli.CodeOf(err) != cli.ExitInterrupted || said.String() != tt.want {
				t.Errorf("%v, said %q, want %q", err, &said, tt.want)
			}
		})
	}
	var said bytes.Buffer
	if err := (&cleanupFlags{}).settle(&said, false, []*job.Job{nil, nil}, []error{nil, forbidden}); !errors.Is(err, forbidden) || said.Len() > 0 {
		t.Errorf("without an interrupt: %v, said %q", err, &said)
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
