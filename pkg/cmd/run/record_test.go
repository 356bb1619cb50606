package run

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// --like begins with the outputs that --resume-from chose for the earlier job. Those of a map come from --map-resume, which it doesn't
// repeat, even if the older map had no values. A job that can't begin with those outputs begins without them.
func TestRestoredResumeFrom(t *testing.T) {
	for name, tt := range map[string]struct {
		earlier api.Handle
		request api.Request
		want    string
		anew    bool
	}{
		"no map":                      {want: "old-1"},
		"a map with values":           {earlier: api.Handle{Map: &api.Map{Inputs: 2, Inherited: 1}}},
		"a map without values":        {earlier: api.Handle{Map: &api.Map{Inputs: 2}}},
		"a job that becomes a map":    {request: api.Request{Map: "inputs.jsonl"}, anew: true},
		"a directory for the outputs": {request: api.Request{Execution: api.Execution{OutputDir: "out"}}, anew: true},
		"mounted outputs":             {request: api.Request{Execution: api.Execution{OutputMount: true}}, anew: true},
		"another --resume-from":       {request: api.Request{Execution: api.Execution{ResumeFrom: "old-2"}}, want: "old-2"},
		"from a cluster to this machine": {earlier: api.Handle{Backend: api.BackendGKE},
			request: api.Request{Placement: api.Placement{Backend: api.BackendLocal}}, anew: true},
		"from this machine to a cluster": {earlier: api.Handle{Backend: api.BackendLocal}, anew: true},
		"on this machine": {earlier: api.Handle{Backend: api.BackendLocal},
			request: api.Request{Placement: api.Placement{Backend: api.BackendLocal}}, want: "old-1"},
	} {
		tt.earlier.CommandLine, tt.earlier.ResumeFrom = &api.CommandLine{Target: "f.py:f"}, "old-1"
		e := &earlier{Job: &job.Job{Handle: tt.earlier}}
		if e.target(&tt.request, nil); tt.request.ResumeFrom != tt.want || e.anew != tt.anew || e.resumes != (tt.want == "old-1") {
			t.Errorf("%s: resumes from %q, anew: %v; want %q", name, tt.request.ResumeFrom, e.anew, tt.want)
		}
	}
}
