package job

import (
	"context"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
	"github.com/kubectl-kinetic/kinetic/pkg/store/storetest"
)

// Whoever cancels a job whose result is there, and has its end, cancels nothing.
func TestCancelOfAStoredResult(t *testing.T) {
	for _, state := range []api.State{api.Pending, api.Running} {
		b := storetest.NewBucket(t)
		b.Put("a1/result.json", `{"version":1,"ok":true,"value":7}`, map[string]string{"end": `{"version":1,"state":"SUCCEEDED","reason":"Completed","exit_code":0,"attempt":1,"by":"runner"}`})
		j := &Job{Handle: api.Handle{JobID: "a1", Backend: api.BackendGKE, Hosts: 1}, Store: b.Open(t), Backend: deletes{steps{{State: state}}}}
		was, err := j.Cancel(t.Context(), 0, time.Now(), "cancelled")
		if err != nil || was.State != api.Succeeded {
			t.Errorf("%s: %+v, %v", state, was, err)
		}
		if end, err := records.End(t.Context(), j.Store, "a1"); err != nil || end.State != api.Succeeded {
			t.Errorf("%s: recorded %+v, %v", state, end, err)
		}
	}
}

// deletes is a backend that tells a job to end when it deletes it.
type deletes struct{ steps }

func (deletes) Delete(_ context.Context, _ api.Handle, o api.DeleteOptions) error { return o.Ending() }

// A runner that is killed after it has stored the result ends no job in another way: the result says how it ended.
func TestEndOfAStoredResult(t *testing.T) {
	const end = `{"version":1,"state":"SUCCEEDED","reason":"Completed","exit_code":0,"attempt":1,"by":"runner"}`
	for name, tt := range map[string]struct {
		metadata map[string]string
		reason   api.Reason
		want     api.State
	}{
		"with its end":             {map[string]string{"attempt": "1", "end": end}, api.Killed, api.Succeeded},
		"the store failed":         {map[string]string{"attempt": "1", "end": end}, api.RunnerFailure, api.Succeeded},
		"an attempt was to come":   {map[string]string{"attempt": "1"}, api.Killed, api.Failed},
		"nothing that can be read": {map[string]string{"end": `{"version":9}`}, api.Killed, api.Failed},
		"no result":                {nil, api.Killed, api.Failed},
	} {
		b := storetest.NewBucket(t)
		b.Put("a1/handle.json", `{"schema_version":1,"job_id":"a1","backend":"gke","hosts":1}`, nil)
		if tt.metadata != nil {
			b.Put("a1/result.json", `{"version":1,"ok":true,"value":7}`, tt.metadata)
		}
		code := 137
		j := &Job{Handle: api.Handle{JobID: "a1", Backend: api.BackendGKE, Hosts: 1}, Store: b.Open(t),
			Backend: steps{{State: api.Failed, Reason: tt.reason, ExitCode: &code, Finished: time.Now()}}}
		listed := func(context.Context, api.ListLevel) ([]api.JobSummary, error) {
			return []api.JobSummary{{ID: "a1", Status: j.Backend.(steps)[0]}}, nil
		}
		reg := Registry{Store: j.Store, Kind: api.BackendGKE, Backend: lists(listed)}
		if jobs, err := reg.Entries(t.Context(), Filter{States: []api.State{tt.want}}, api.ListStates); err != nil || len(jobs) != 1 || jobs[0].Status.State != tt.want {
			t.Errorf("%s: listed as %+v, %v", name, jobs, err)
		}
		status, err := j.Status(t.Context())
		if err != nil || status.State != tt.want {
			t.Errorf("%s: %+v, %v", name, status, err)
		}
		gone := *j
		gone.Backend = steps{{State: api.NotFound}}
		if end, ended := gone.Ended(t.Context()); ended != (tt.want == api.Succeeded) || ended && end.State != api.Succeeded {
			t.Errorf("%s: without its workload: %+v, %v", name, end, ended)
		}
		if err := j.Remember(t.Context(), api.Status{State: api.Failed, Reason: tt.reason, ExitCode: &code}); err != nil {
			t.Error(name, err)
		}
		if recorded, err := records.End(t.Context(), j.Store, "a1"); err != nil || recorded.State != tt.want {
			t.Errorf("%s: recorded %+v, %v", name, recorded, err)
		}
	}
}
