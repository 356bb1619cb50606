package jobs

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// An error about an input names the input, not only its chunk.
func TestInputWithoutALog(t *testing.T) {
	o := &logOptions{index: 59}
	other := errors.New("other")
	for want, err := range map[string]error{"input 59 was not started: chunk 11 has no log": fmt.Errorf("chunk 11 has %w", logs.ErrNoLog), "other": other} {
		if got := o.ofInput(err); got.Error() != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if err := o.ofInput(nil); err != nil {
		t.Error(err)
	}
}

// That an input's chunk waits for a pod is said once, and only while the map runs.
func TestInputThatHasNotBegun(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), store.AttemptsOfChunk("m1", 0)+"1.json", strings.NewReader("{}"), nil); err != nil {
		t.Fatal(err)
	}
	j := &job.Job{Handle: api.Handle{JobID: "m1", Map: &api.Map{Inputs: 20, Chunk: 10, Parallelism: 1}}, Store: s}
	running, pending := api.Status{State: api.Running}, api.Status{State: api.Pending, Message: "no node has room"}
	inVain := api.Status{State: api.Pending, Message: "no such image", Next: "docker images", Unrecoverable: true}
	for name, tt := range map[string]struct {
		chunk    int
		statuses []api.Status
		want     string
	}{
		"its chunk waits":     {1, []api.Status{running, running}, "input 7 has not started: chunk 1 waits for a pod\n"},
		"its chunk has begun": {0, []api.Status{running}, ""},
		"the map waits":       {1, []api.Status{pending}, "pending     waiting: no node has room\n"},
		"the map can't start": {1, []api.Status{inVain}, "pending     waiting: no such image\n  kubectl kinetic jobs cancel m1\n"},
		"the map has ended":   {1, []api.Status{{State: api.Failed}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, errOut := genericiooptions.NewTestIOStreams()
			c := &command{streams: streams, clock: clocktesting.NewFakePassiveClock(time.Now())}
			told := c.tellInput(t.Context(), j, 7, tt.chunk)
			for _, status := range tt.statuses {
				told(status)
			}
			if got := errOut.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
