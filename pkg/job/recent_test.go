package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// picks is a Backend that only implements Pick. It sets the functions of its jobs after choose
// has returned.
type picks struct {
	Backend
	jobs   []api.JobSummary
	unread error
}

func (p picks) Pick(_ context.Context, choose func([]api.JobSummary) []api.JobSummary) ([]api.JobSummary, error) {
	picked := choose(p.jobs)
	for i := range picked {
		picked[i].Function = "f"
	}
	return picked, p.unread
}

func TestRecent(t *testing.T) {
	of := func(id string, state api.State) api.JobSummary { return api.JobSummary{ID: id, State: state} }
	live := []api.JobSummary{
		of("cpu-a-20260101-000000-aaaaaaa", api.Succeeded), of("l4-b-20260103-000000-bbbbbbb", ""), of("cpu-c-20260102-000000-ccccccc", api.Running),
	}
	maps := []api.JobSummary{
		{ID: "cpu-d-20260101-000000-ddddddd", State: api.Running, Map: true}, {ID: "cpu-e-20260101-000001-eeeeeee", State: api.Failed, Map: true},
		{ID: "cpu-f-20260101-000002-fffffff", Map: true}, // its state is not known before it is read
	}
	const handle = `{"version":1,"job_id":%q,"backend":"gke","namespace":"ml","func_name":"g","created_at":"2026-01-01T00:00:00Z","hosts":1}`
	stored := map[string]string{"blobs/sha256/x": "x", "broken-1/handle.json": "{"}
	for _, id := range []string{"old-1", "old-2"} {
		stored[id+"/handle.json"] = fmt.Sprintf(handle, id)
	}
	stored["old-2/end.json"] = `{"version":1,"state":"SUCCEEDED","reason":"Completed"}`
	tests := map[string]struct {
		chosen Beginning
		unread error
		want   string
	}{
		"the newest first":                       {Beginning{}, nil, "l4-b f, cpu-c f, cpu-f f, cpu-e f, cpu-a f, cpu-d f"},
		"a prefix":                               {Beginning{Prefix: "cpu-"}, nil, "cpu-c f, cpu-f f, cpu-e f, cpu-a f, cpu-d f"},
		"not one that is typed":                  {Beginning{Prefix: "cpu-", Except: []string{live[0].ID}}, nil, "cpu-c f, cpu-f f, cpu-e f, cpu-d f"},
		"those that have not ended":              {Beginning{Unended: true}, nil, "l4-b f, cpu-c f, cpu-f f, cpu-d f"},
		"none of them, though some are stored":   {Beginning{Prefix: "old", Unended: true}, nil, ""},
		"without a workload":                     {Beginning{Prefix: "old"}, nil, "old-1 g, old-2 g"},
		"known to have ended, without a cluster": {Beginning{Prefix: "old"}, errors.New("away"), "old-2 g"},
		"maps that have ended, or may have":      {Beginning{Maps: true}, nil, "cpu-f f, cpu-e f"},
		"neither":                                {Beginning{Prefix: "x"}, nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			registry := Registry{Store: storeWith(t, stored), Backend: picks{jobs: slices.Concat(live, maps), unread: tt.unread}, Namespace: "ml", Kind: api.BackendGKE}
			var got []string
			for _, e := range registry.Recent(t.Context(), tt.chosen) {
				id, _, _ := strings.Cut(e.ID, "-2026")
				got = append(got, id+" "+e.Function)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// unstated is a Backend that only implements Pick. It knows the states only of what it has read.
type unstated struct {
	Backend
	jobs []api.JobSummary
}

func (u unstated) Pick(_ context.Context, choose func([]api.JobSummary) []api.JobSummary) ([]api.JobSummary, error) {
	all, states := make([]api.JobSummary, len(u.jobs)), map[string]api.State{}
	for i, e := range u.jobs {
		all[i].ID, states[e.ID] = e.ID, e.State
	}
	picked := choose(all)
	for i, e := range picked {
		picked[i].State = states[e.ID]
	}
	return picked, nil
}

func TestRecentAmongManyThatHaveEnded(t *testing.T) {
	const oldest = "a-train-20250101-000000-aaaaaaa"
	tests := map[string]struct {
		ended, running int // newer than the oldest, which runs; the ended ones are the newest
		want           int
		wantOldest     bool
	}{
		"few":                             {48, 0, 1, true},
		"a few of each":                   {30, 30, 31, true},
		"as many that run":                {0, maxRecent, maxRecent, false},
		"more than are read altogether":   {maxRecent, 0, 0, false},
		"the last of those that are read": {maxRecent - 1, 0, 1, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			backend := unstated{jobs: []api.JobSummary{{ID: oldest, State: api.Running}}}
			for i := range tt.running + tt.ended {
				state := api.Running
				if i >= tt.running {
					state = api.Failed
				}
				backend.jobs = append(backend.jobs, api.JobSummary{ID: fmt.Sprintf("%c-train-20260101-00%02d%02d-%07x", 'a'+i%2, i/60, i%60, i), State: state})
			}
			got := Registry{Backend: backend}.Recent(t.Context(), Beginning{Unended: true})
			hasOldest := slices.ContainsFunc(got, func(e api.JobSummary) bool { return e.ID == oldest })
			if len(got) != tt.want || hasOldest != tt.wantOldest {
				t.Errorf("%d jobs, the oldest %v; want %d, %v", len(got), hasOldest, tt.want, tt.wantOldest)
			}
		})
	}
}

// A shell inserts the common prefix of all offered words. That must not be longer than the
// common prefix of all chosen jobs.
func TestNewestOfMany(t *testing.T) {
	var all []api.JobSummary
	for i := range 10 {
		all = append(all, api.JobSummary{ID: fmt.Sprintf("cpu-train-20260101-00001%d-%07x", i, i)})
	}
	tests := map[string]struct {
		older []string
		last  string
	}{
		"all begin alike":      {nil, "cpu-train-20260101-000015"},
		"an older one differs": {[]string{"l4-x-20250101-000000-0000000"}, "l4-x-20250101"},
		"several differ":       {[]string{"cpu-x-20250102-000000-0000000", "l4-x-20250101-000000-0000000", "a"}, "l4-x-20250101"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			jobs := all
			for _, id := range tt.older {
				jobs = append(jobs[:len(jobs):len(jobs)], api.JobSummary{ID: id})
			}
			got := Beginning{}.newest(jobs, 5)
			if len(got) != 5 || !strings.HasPrefix(got[0].ID, "cpu-train-20260101-000019") || !strings.HasPrefix(got[4].ID, tt.last) {
				t.Errorf("got %v", got)
			}
		})
	}
}

// BenchmarkNewest chooses among 5,000 jobs.
func BenchmarkNewest(b *testing.B) {
	var all []api.JobSummary
	for i := range 5000 {
		at := i * 7919 % 5000 // in no order
		all = append(all, api.JobSummary{ID: fmt.Sprintf("cpu-train-20260101-%02d%02d%02d-%07x", at/3600, at/60%60, at%60, i)})
	}
	b.ReportAllocs()
	for b.Loop() {
		if got := (Beginning{Prefix: "cpu-"}).newest(all, maxRecent); len(got) != maxRecent {
			b.Fatalf("got %d", len(got))
		}
	}
}
