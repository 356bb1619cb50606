package job

import (
	"context"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// explained is a workload whose jobs' reasons take a closer look.
type explained struct {
	steps
	closer api.Status
}

func (e explained) Explain(context.Context, string) (api.Status, error) { return e.closer, nil }

func TestStatusTellsWhyAJobWaits(t *testing.T) {
	waits := api.Status{State: api.Pending, Message: "no node has room", Next: "kubectl get nodes"}
	tests := map[string]struct {
		first, closer api.Status
		want          string
	}{
		"it waits":             {api.Status{State: api.Pending, Attempt: 1}, waits, "waiting: no node has room; kubectl get nodes"},
		"it runs":              {api.Status{State: api.Running}, waits, "running; "},
		"it has begun by then": {api.Status{State: api.Pending, Message: "starting"}, api.Status{State: api.Running}, "waiting: starting; "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := &Job{Handle: api.Handle{JobID: "a1"}, Store: storeWith(t, nil), Workload: explained{steps{tt.first}, tt.closer}}
			s, err := j.Status(t.Context())
			if got := Outcome(s) + "; " + s.Next; err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
