package backend

import (
	"errors"
	"fmt"
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
	of := func(id string, isMap bool) api.JobSummary {
		return api.JobSummary{ID: id, Function: "f", Map: isMap, Status: api.Status{State: api.Succeeded}}
	}
	var many []api.JobSummary
	for i := range 2 * maxCompletions {
		many = append(many, of(fmt.Sprintf("job-%03d", i), true))
		many[i].Created = time.Unix(int64(i), 0)
	}
	all := func(api.JobSummary) bool { return true }
	maps := func(e api.JobSummary) bool { return e.Map }
	tests := map[string]struct {
		word       string
		wanted     func(api.JobSummary) bool
		registries []func() (job.Registry, error)
		want       []string
	}{
		"of all places":                  {"a", all, []func() (job.Registry, error){registry(of("ab", false), of("b", false)), registry(of("ac", false))}, []string{"ab\tf SUCCEEDED", "ac\tf SUCCEEDED"}},
		"a job that two of them have":    {"a", all, []func() (job.Registry, error){registry(of("ab", false)), registry(of("ab", false))}, []string{"ab\tf SUCCEEDED"}},
		"a place that can't be reached":  {"", all, []func() (job.Registry, error){gone, registry(of("ab", false))}, []string{"ab\tf SUCCEEDED"}},
		"only those that are wanted":     {"", maps, []func() (job.Registry, error){registry(of("ab", false), of("ac", true))}, []string{"ac\tf SUCCEEDED"}},
		"the others take nobody's place": {"job-000", all, []func() (job.Registry, error){registry(many...)}, []string{"job-000\tf SUCCEEDED"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, CompleteIDs(t.Context(), tt.word, tt.wanted, tt.registries...)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	t.Run("not all of many", func(t *testing.T) {
		if got := CompleteIDs(t.Context(), "", all, registry(many...)); len(got) != maxCompletions || got[0] != "job-199\tf SUCCEEDED" {
			t.Errorf("got %d, the first %v", len(got), got[:1])
		}
	})
}
