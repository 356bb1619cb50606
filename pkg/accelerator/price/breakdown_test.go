package price

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// at is a time of the days around the tests' now, 2026-04-17 14:00.
func at(t *testing.T, text string) time.Time {
	t.Helper()
	stamp, err := time.Parse("01-02 15:04", text)
	if err != nil {
		t.Fatal(err)
	}
	return stamp.AddDate(2026, 0, 0)
}

func TestBreakdown(t *testing.T) {
	job := func(owner, accelerator string, capacity api.CapacityKind, begin, end string) api.JobSummary {
		e := api.JobSummary{ID: owner + accelerator, Accelerator: accelerator, Capacity: capacity, Hosts: 1,
			Status:   api.Status{State: api.Running, Attempt: 1, Started: at(t, begin)},
			Workload: api.WorkloadFacts{Labels: map[string]string{"owner": owner}}}
		if end != "" {
			e.Status.State, e.Status.Finished = api.Succeeded, at(t, end)
		}
		return e
	}
	waits := job("ada", "l4", "", "04-17 10:00", "")
	waits.Status = api.Status{State: api.Pending}
	jobs := []api.JobSummary{
		job("ada", "v6e-8", "", "04-15 22:00", "04-16 03:00"),                 // two days
		job("ada", "l4", api.CapacitySpot, "04-17 13:00", ""),                 // still runs, an hour so far
		job("bob", "l4", "", "04-10 00:00", "04-15 01:00"),                    // began before
		job("bob", "l4", "", "04-10 00:00", "04-14 23:00"),                    // ended before
		job("", "v6e-8", api.CapacityFlexStart, "04-17 10:00", "04-17 11:00"), // no price
		job("eve", "cpu", "", "04-17 10:00", "04-17 11:00"), waits,
	}
	owner := func(e api.JobSummary) string { return e.Workload.Labels["owner"] }
	got := meter().Breakdown(jobs, 3, owner)
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"from":"2026-04-15","to":"2026-04-17",` +
		`"jobs":4,"chipHours":50,"onDemand":{"usd":108.71,"atLeast":true},"spot":{"usd":0.28,"atLeast":false},` +
		`"byPerson":[` +
		`{"person":"ada","jobs":2,"chipHours":41,"onDemand":{"usd":108,"atLeast":false},"spot":{"usd":0.28,"atLeast":false}},` +
		`{"person":"","jobs":1,"chipHours":8,"onDemand":{"usd":null,"atLeast":true},"spot":{"usd":0,"atLeast":false}},` +
		`{"person":"bob","jobs":1,"chipHours":1,"onDemand":{"usd":0.71,"atLeast":false},"spot":{"usd":0,"atLeast":false}}],` +
		`"bound":"about","priceBases":["us-central1, 2025-03","us-central1, 2026"]}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	waits.Status = api.Status{State: api.Running, Attempt: 2, Started: at(t, "04-17 13:00")}
	if got := meter().Breakdown([]api.JobSummary{waits}, 1, owner); got.Bound != AtMost || got.From != "2026-04-17" {
		t.Errorf("got %+v", got)
	}
	if got := meter().Breakdown(nil, 1, owner); got.Bound != About || got.Persons == nil || got.Jobs != 0 {
		t.Errorf("got %+v", got)
	}
}
