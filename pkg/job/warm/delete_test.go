package warm_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// A host that is ended leaves an end of each call that it has begun.
func TestEndHost(t *testing.T) {
	now := time.Unix(2e9, 0).UTC()
	const cancelled, terminated = "cancelled: its host was ended by jobs warm --end", "failed: Terminated"
	for name, tt := range map[string]struct {
		state   *warm.State
		refused bool
		calls   []string
		// want are the outcomes in the store of the calls that had begun: one without an end, one that has succeeded, and one that
		// was told to end.
		want []string
	}{
		"a call runs":        {&warm.State{Current: "cpu-train-1", Seconds: 60}, false, []string{"cpu-train-1"}, []string{cancelled, "succeeded", terminated}},
		"it has just ended":  {&warm.State{Current: "cpu-ended-1", Seconds: 60}, false, []string{"cpu-ended-1"}, []string{"", "succeeded", terminated}},
		"its end was early":  {&warm.State{Current: "cpu-told-1", Seconds: 60}, false, []string{"cpu-told-1"}, []string{"", "succeeded", cancelled}},
		"it is idle":         {&warm.State{}, false, nil, []string{"", "succeeded", terminated}},
		"it does not answer": {nil, false, []string{"cpu-train-1"}, []string{cancelled, "succeeded", terminated}},
		"it can't be ended":  {nil, true, nil, []string{"", "succeeded", terminated}},
	} {
		t.Run(name, func(t *testing.T) {
			deleted, refusal := "", errors.New("no permission")
			b, s, h := backend(t, jobtest.Backend{State: api.Running, Deleted: func(h api.Handle) error {
				if tt.refused {
					return refusal
				}
				deleted = h.JobID
				return nil
			}})
			put(t, s, store.WarmCall(hostID, "cpu-waits-1"), struct{}{}) // it has not begun

			// One that was submitted again has another host.
			moved := api.Handle{Version: 1, JobID: "cpu-moved-1", Host: "cpu-warm-20260101-000000-abcdef1"}
			put(t, s, store.WarmCall(hostID, moved.JobID), struct{}{})
			put(t, s, store.Handle(moved.JobID), moved)
			put(t, s, store.Attempts(moved.JobID)+"1.json", struct{}{})
			for id, end := range map[string]api.End{
				"cpu-ended-1": {State: api.Succeeded, Reason: api.Completed}, "cpu-told-1": {State: api.Failed, Reason: api.Terminated},
			} {
				put(t, s, store.WarmCall(hostID, id), struct{}{})
				put(t, s, store.Attempts(id)+"1.json", struct{}{})
				if err := records.CreateEnd(t.Context(), s, id, end); err != nil {
					t.Fatal(err)
				}
			}
			calls, err := b.EndHost(t.Context(), warm.HostOf(h), tt.state, now)
			if tt.refused != errors.Is(err, refusal) || !tt.refused && (err != nil || deleted != hostID) {
				t.Errorf("deleted %q: %v", deleted, err)
			}
			var got []string
			for _, id := range []string{h.JobID, "cpu-ended-1", "cpu-told-1"} {
				got = append(got, outcome(t, s, id))
			}
			if diff := cmp.Diff(tt.calls, calls) + cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if end, err := records.End(t.Context(), s, "cpu-waits-1"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a call that has not begun has ended: %+v, %v", end, err)
			}
		})
	}
}

// outcome returns how a job ended, "" if it has not.
func outcome(t *testing.T, s store.Store, id string) string {
	t.Helper()
	end, err := records.End(t.Context(), s, id)
	if errors.Is(err, store.ErrNotFound) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return end.Status().Outcome()
}
