package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// Whoever leaves a map hears how to come back to its values.
func TestInterruptedMap(t *testing.T) {
	for want, m := range map[string]*api.Map{"jobs logs -f a1 -n ml\n": nil, "jobs result a1 -n ml\n": {Inputs: 2, Chunk: 1}} {
		var said bytes.Buffer
		j := &job.Job{Handle: api.Handle{JobID: "a1", Namespace: "ml", Map: m}}
		if code := CodeOf(Interrupted(&said, j, context.Canceled)); code != ExitInterrupted || !strings.Contains(said.String(), want) {
			t.Errorf("exit code %d, said %q; want %q in it", code, said.String(), want)
		}
	}
}

func TestTellFailures(t *testing.T) {
	j := &job.Job{Handle: api.Handle{JobID: "a1", Namespace: "ml", Map: &api.Map{Inputs: 2000, Chunk: 1}}}
	end := MapEnd{Status: api.Status{State: api.Failed, Message: "Job has failed indexes"}, Outcome: job.MapOutcome{
		Failed:  []job.FailedInput{{Input: 17, Error: api.ResultError{Type: "ValueError", Message: "no"}}},
		Missing: []int{20, 21},
	}}
	const want = `input 17: ValueError: no
2 of 2,000 inputs have no result (the first is 20): their pods failed or were removed before reaching them
job a1 failed: Job has failed indexes
3 of 2,000 inputs have no value; the job stays
next: kubectl kinetic jobs logs a1 --index 17 -n ml
next: run the same with --map-resume a1, which computes only those
`
	var said bytes.Buffer
	if tellFailures(&said, j, end); said.String() != want {
		t.Errorf("got\n%swant\n%s", said.String(), want)
	}
}
