package backend

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestCompleteIDs(t *testing.T) {
	records, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	registry := func(found ...api.JobSummary) func() (job.Registry, error) {
		return func() (job.Registry, error) {
			return job.Registry{Store: records, Backend: jobtest.Backend{Jobs: found}}, nil
		}
	}
	gone := func() (job.Registry, error) { return job.Registry{}, errors.New("no kubeconfig") }
	of := func(id string, state api.State) api.JobSummary {
		return api.JobSummary{ID: id, Function: "f", State: state, Created: time.Now().Add(-3 * time.Hour)}
	}
	tests := map[string]struct {
		chosen     job.Beginning
		registries []func() (job.Registry, error)
		want       []string
	}{
		"of all places": {job.Beginning{Prefix: "a"}, []func() (job.Registry, error){registry(of("ab", api.Running), of("b", api.Failed)), registry(of("ac", api.Failed))},
			[]string{"ab\tf RUNNING 3h", "ac\tf FAILED 3h"}},
		"a job that two of them have":   {job.Beginning{}, []func() (job.Registry, error){registry(of("ab", api.Running)), registry(of("ab", api.Running))}, []string{"ab\tf RUNNING 3h"}},
		"a place that can't be reached": {job.Beginning{}, []func() (job.Registry, error){gone, registry(of("ab", api.Running))}, []string{"ab\tf RUNNING 3h"}},
		"of unknown function and age":   {job.Beginning{}, []func() (job.Registry, error){registry(api.JobSummary{ID: "ab", State: api.Pending})}, []string{"ab\tPENDING"}},
		"of unknown state too":          {job.Beginning{}, []func() (job.Registry, error){registry(api.JobSummary{ID: "ab"})}, []string{"ab\t"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, CompleteIDs(t.Context(), tt.chosen, tt.registries...)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Nobody waits for a place that does not answer, whatever its code waits for.
func TestCompleteIDsWithoutAnAnswer(t *testing.T) {
	silent := func() (job.Registry, error) { select {} }
	if got := CompleteIDs(t.Context(), job.Beginning{}, silent); got != nil {
		t.Errorf("got %q", got)
	}
}
