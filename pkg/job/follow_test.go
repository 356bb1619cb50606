package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// slow is a cluster that may never come to know that the job has ended.
type slow struct {
	steps         // of its states
	refusal error // of a stop
}

func (s slow) Watch(ctx context.Context, id string, seen func(api.Status)) (api.Status, error) {
	last, err := s.steps.Watch(ctx, id, seen)
	if last.State.Ended() {
		return last, err
	}
	<-ctx.Done()
	return last, ctx.Err()
}

func (slow) Logs(ctx context.Context, _ string, o logs.Options, w io.Writer) error {
	if _, err := io.WriteString(w, "printed\n"); err != nil {
		return err
	}
	if o.Ended(ctx) {
		return nil
	}
	return errors.New("the connection broke for good")
}

func (s slow) Stop(context.Context, string, time.Duration) error { return s.refusal }

func TestFollowEndsWithTheLog(t *testing.T) {
	running, failed := api.Status{State: api.Running, Attempt: 1}, api.Status{State: api.Failed, Message: "exit code 1"}
	tests := map[string]struct {
		steps steps
		end   string // in the store
		want  string
	}{
		"success is told by the store":              {steps{running}, `{"version":1,"state":"SUCCEEDED","reason":"Completed"}`, "succeeded, <nil>"},
		"how it failed too, once the cluster knows": {steps{running, failed}, runnerEnd, "failed: the runner's word, <nil>"},
		"a log that is wrong":                       {steps{running}, "", "running, the connection broke for good"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			objects := map[string]string{}
			if tt.end != "" {
				objects["a1/end.json"] = tt.end
			}
			j := &Job{Handle: api.Handle{JobID: "a1"}, Store: storeWith(t, objects), Workload: slow{steps: tt.steps}}
			var out bytes.Buffer
			status, err := j.Follow(t.Context(), logs.Options{Tail: -1, Host: -1}, &out, nil)
			if got := fmt.Sprintf("%s, %v", Outcome(status), err); got != tt.want || out.String() != "printed\n" {
				t.Errorf("got %s and %q, want %s", got, out.String(), tt.want)
			}
		})
	}
}

func TestCancelLeavesNoWordWhereItWasRefused(t *testing.T) {
	refused := errors.New("forbidden")
	tests := map[string]struct {
		refusal error
		objects map[string]string
		want    string // who says in the store that the job has ended
	}{
		"accepted":                     {nil, nil, "cancel"},
		"refused":                      {refused, nil, ""},
		"accepted, and its end unseen": {fmt.Errorf("%w: %w", api.ErrEnding, refused), nil, "cancel"},
		"refused, and it had ended":    {refused, map[string]string{"a1/end.json": runnerEnd}, "runner"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := storeWith(t, tt.objects)
			j := &Job{Handle: api.Handle{JobID: "a1"}, Store: s, Workload: slow{steps{{State: api.Running}}, tt.refusal}}
			if _, err := j.Cancel(t.Context(), time.Second, time.Now(), Cancelled); !errors.Is(err, tt.refusal) {
				t.Errorf("got %v", err)
			}
			end, _ := readJSON[api.End](t.Context(), s, store.End("a1"))
			if end.By != tt.want {
				t.Errorf("recorded by %q, want %q", end.By, tt.want)
			}
		})
	}
}
