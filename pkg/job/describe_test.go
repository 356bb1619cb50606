package job

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestTimelineTellsEveryAttempt(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	crashed := api.Attempt{Attempt: 1, Started: at(1), Reason: api.Killed, Finished: at(2)}
	told := crashed
	told.Message = "host 3: train.py:f was killed"
	drained := api.Attempt{Attempt: 2, Started: at(3)}
	last := api.Attempt{Attempt: 3, Started: at(4)}
	d := Description{Handle: api.Handle{CreatedAt: at(0), Client: "v1"}, Status: api.Status{State: api.Succeeded, Started: at(1), Finished: at(5)}}
	tests := map[string]struct {
		attempts []api.Attempt
		losses   []api.Loss
		want     []Event
	}{
		"none recorded": {nil, nil, []Event{{at(1), "started"}}},
		"one":           {[]api.Attempt{{Attempt: 1, Started: at(1)}}, nil, []Event{{at(1), "started"}}},
		"a crash of a host": {[]api.Attempt{told, last}, nil, []Event{{at(1), "started"}, {at(2), "attempt 1 ended: host 3: train.py:f was killed"},
			{at(4), "started again, attempt 3"}}},
		"a crash, then a drain": {[]api.Attempt{crashed, drained, last}, []api.Loss{{Time: at(1), Why: "not this one"}, {Time: at(4), Why: "nor this"}}, []Event{
			{at(1), "started"}, {at(2), "attempt 1 ended: killed, as happens when memory runs out"},
			{at(3), "started again, attempt 2"},
			{at(4), "started again, attempt 3; attempt 2 was deleted, or lost its node"}}},
		"losses that the cluster knows": {[]api.Attempt{{Attempt: 1, Started: at(1).Add(time.Second / 2)}, drained, last},
			[]api.Loss{{Time: at(1), Why: "preempted"}, {Time: at(3), Why: "drained"}, {Time: at(3), Why: "preempted"}}, []Event{
				{at(1).Add(time.Second / 2), "started"},
				{at(3), "started again, attempt 2; attempt 1 was lost: preempted"},
				{at(4), "started again, attempt 3; attempt 2 was lost: drained"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want := append([]Event{{at(0), "submitted by kubectl kinetic v1"}}, tt.want...)
			want = append(want, Event{at(5), "succeeded"})
			if diff := cmp.Diff(want, timeline(d, tt.attempts, tt.losses)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A pod's times are whole seconds, and not by our clock.
func TestTimelineNeverRunsBackwards(t *testing.T) {
	at := func(ms int) time.Time { return time.Date(2026, 1, 1, 0, 0, 5, ms*1e6, time.UTC) }
	d := Description{Handle: api.Handle{CreatedAt: at(300), Client: "v1"}, Status: api.Status{State: api.Failed, Reason: api.Cancelled, Message: "cancelled", Finished: at(0)}}
	want := []Event{{at(300), "submitted by kubectl kinetic v1"}, {at(900), "started"}, {at(900), "failed: cancelled"}}
	if diff := cmp.Diff(want, timeline(d, []api.Attempt{{Attempt: 1, Started: at(900)}}, nil)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// grouped is a cluster where two hosts have pods, one of which is done.
type grouped struct{ steps }

func (grouped) Hosts(context.Context, string) ([]api.Host, error) {
	return []api.Host{{Host: 0, State: api.Succeeded}, {Host: 1, State: api.Running}}, nil
}

// The pods of a set outlive it by moments, in which they run nothing.
func TestDescribeTellsNoHostAsRunningOfAJobThatHasEnded(t *testing.T) {
	for state, want := range map[api.State]int{api.Running: 2, api.Succeeded: 1, api.NotFound: 1} {
		j := &Job{Handle: api.Handle{JobID: "a1"}, Store: storeWith(t, nil), Workload: grouped{steps{{State: state}}}}
		d, err := j.Describe(t.Context())
		if err != nil || len(d.Hosts) != want {
			t.Errorf("%s: %v, %v; want %d", state, d.Hosts, err, want)
		}
	}
}
