package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// pythonHandle is handle.json as keras-kinetic writes it (client 0.0.4).
const pythonHandle = `{"accelerator": "l4", "backend": "gke", "bucket_name": "acme-kn-main-jobs", "cluster_name": "main",
 "created_at": "2026-04-17T15:29:00Z", "debug": false, "display_name": "kinetic-train-job-1a2b3c4d", "func_name": "train",
 "image_uri": "us-docker.pkg.dev/acme/kn-main/base:gpu-0123456789ab", "job_id": "job-1a2b3c4d", "k8s_name": "kinetic-job-1a2b3c4d",
 "namespace": "ml", "project": "acme", "zone": "us-central1-a"}`

// storeWith is a store that holds some objects.
func storeWith(t *testing.T, objects map[string]string) store.Store {
	t.Helper()
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range objects {
		if err := s.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// A cluster's times are in whole seconds. Within one, the handles say which job was submitted last.
func TestJobsOfTheSameSecondAreInOrder(t *testing.T) {
	objects := map[string]string{}
	second := time.Date(2026, 1, 1, 0, 0, 7, 0, time.UTC)
	var found []api.JobSummary
	for i, id := range []string{"b-1", "d-2", "a-3", "c-4"} {
		objects[store.Handle(id)] = fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"gke","created_at":"2026-01-01T00:00:06.%d00Z"}`, id, i+1)
		found = append(found, api.JobSummary{ID: id, Created: second, Status: api.Status{State: api.Running}})
	}
	found = append(found, api.JobSummary{ID: "e-5", Created: second.Add(time.Second), Status: api.Status{State: api.Running}})
	reg := Registry{Store: storeWith(t, objects), Backend: lister{list: func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return found, nil }}}
	for limit, want := range map[int]string{0: "e-5 c-4 a-3 d-2 b-1", 3: "e-5 c-4 a-3"} {
		entries, err := reg.Entries(t.Context(), Filter{Limit: limit}, api.ListStates)
		var ids []string
		for _, e := range entries {
			ids = append(ids, e.ID)
		}
		if got := strings.Join(ids, " "); got != want || err != nil {
			t.Errorf("of %d: got %s, %v, want %s", limit, got, err, want)
		}
	}
}

// Two namespaces and two clusters share a store; a job that isn't in this one may be
// running in the other.
func TestEntriesOfASharedStore(t *testing.T) {
	handle := func(id, namespace, cluster string) string {
		return `{"version":1,"job_id":"` + id + `","backend":"gke","namespace":"` + namespace + `","cluster_name":"` + cluster +
			`","func_name":"f","accelerator":"cpu","created_at":"2026-01-01T00:00:00Z"}`
	}
	objects := map[string]string{
		"here/handle.json":         handle("here", "ml", "main"),
		"here/end.json":            `{"version":1,"state":"FAILED","reason":"Exception","message":"no"}`,
		"namespace/handle.json":    handle("namespace", "other", "main"),
		"cluster/handle.json":      handle("cluster", "ml", "second"),
		"copied/handle.json":       handle("here", "ml", "main"),
		"job-1a2b3c4d/handle.json": pythonHandle,
		"job-1a2b3c4d/result.pkl":  "never read",
		"blobs/sha256/aa/bb":       "x",

		"cpu-f-20260101-000000-0a1b2c3/call.json": "{}",
		"cpu-f-20260101-000000-abcdef0/outputs/x": "x",
		// Never cleaned up: what is, or may be, someone else's.
		"cpu-f-20260101-000000-1111111/x": "x",
		"chosen/end.json":                 "{}",
		"chosen-too/outputs/x":            "x",
		"datasets/train.csv":              "x",
		"other-store/one/handle.json":     handle("one", "ml", "main"),
	}
	running := api.JobSummary{ID: "job-0a0a0a0a", Namespace: "ml", Workload: api.WorkloadFacts{ByPythonTool: true}, Store: "file:///other", Status: api.Status{State: api.Running}}
	p := Registry{Namespace: "ml", Cluster: "main", Store: storeWith(t, objects),
		Backend: lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return []api.JobSummary{running}, nil }),
		OpenStore: func(string) (store.Store, error) {
			return storeWith(t, map[string]string{"job-0a0a0a0a/handle.json": strings.ReplaceAll(pythonHandle, "1a2b3c4d", "0a0a0a0a")}), nil
		}}
	list := func(f Filter) []string {
		t.Helper()
		entries, err := p.Entries(t.Context(), f, api.ListStates)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, e := range entries {
			lines = append(lines, e.ID+" "+e.Function+" "+string(e.State)+" "+e.Status.Outcome())
		}
		return lines
	}
	later := time.Now().Add(time.Hour) // than all objects of the store
	python := "job-1a2b3c4d train NOT_FOUND not found: only a pickle of keras-kinetic says how it ended"
	for name, tt := range map[string]struct {
		filter Filter
		want   []string
	}{
		"workloads":       {Filter{}, []string{"job-0a0a0a0a train RUNNING running"}},
		"and the store's": {Filter{Stored: true}, []string{python, "here f NOT_FOUND failed: no", "job-0a0a0a0a train RUNNING running"}},
		"and its orphans": {Filter{Stored: true, Orphans: later}, []string{"cpu-f-20260101-000000-0a1b2c3  NOT_FOUND not found", python, "here f NOT_FOUND failed: no", "job-0a0a0a0a train RUNNING running"}},
		"and what is left of others": {Filter{Stored: true, Outputs: true},
			[]string{"cpu-f-20260101-000000-abcdef0  NOT_FOUND not found: cleaned up; its outputs are kept", python, "here f NOT_FOUND failed: no", "job-0a0a0a0a train RUNNING running"}},
		"what a submit may be writing": {Filter{Stored: true, Orphans: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
			[]string{python, "here f NOT_FOUND failed: no", "job-0a0a0a0a train RUNNING running"}},
		"the old of the orphans": {Filter{Stored: true, Orphans: later, Before: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)},
			[]string{"here f NOT_FOUND failed: no", "job-0a0a0a0a train RUNNING running"}},
		"the newest": {Filter{Stored: true, Limit: 1}, []string{python}},
		"the old": {Filter{Stored: true, Before: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)},
			[]string{"here f NOT_FOUND failed: no", "job-0a0a0a0a train RUNNING running"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, list(tt.filter)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for id, want := range map[string]string{"namespace": "add -n other", "cluster": "add --cluster second"} {
		if _, err := p.FindOne(t.Context(), id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("attaching to %s: %v, want %q", id, err, want)
		}
		if _, failed := findRemains(t, p, FindOptions{}, id); len(failed) != 1 || !strings.Contains(failed[0].Error(), want) {
			t.Errorf("attaching to %s in order to remove it: %v, want %q", id, failed, want)
		}
	}
	if _, err := p.FindOne(t.Context(), "here"); err != nil {
		t.Error(err)
	}
	p.Backend = lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return nil, errUnreachable })
	entries, err := p.Entries(t.Context(), Filter{Stored: true}, api.ListStates)
	if !errors.Is(err, errUnreachable) {
		t.Errorf("without the cluster: %v", err)
	}
	for _, e := range entries {
		if e.Status.Unread == "" {
			t.Errorf("without the cluster, job %s seems to have no workload", e.ID)
		}
	}
}

// silent is a store that never answers.
type silent struct{ store.Store }

func (silent) Open(ctx context.Context, _ string) (io.ReadCloser, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (silent) List(ctx context.Context, _, _ string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		<-ctx.Done()
		yield(store.Object{}, ctx.Err())
	}
}

// If the store does not answer, the list lacks what only the store could add. It waits for the store
// once.
func TestEntriesWithoutAnAnswerOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := api.CurrentPod{Pod: "p", MayHaveEarlierPods: true}
		killed := api.Status{State: api.Failed, Reason: api.Killed}
		var found []api.JobSummary
		for _, id := range []string{"a", "b", "job-0a0a0a0a"} {
			found = append(found, api.JobSummary{ID: id, Store: "file:///other", Status: killed, Workload: api.WorkloadFacts{CurrentPod: late}})
		}
		opened := 0
		p := Registry{Namespace: "ml", Store: storeWith(t, nil),
			Backend: lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return found, nil }),
			OpenStore: func(string) (store.Store, error) {
				opened++
				return silent{store.None(nil)}, nil
			}}
		start := time.Now()
		entries, err := p.Entries(t.Context(), Filter{}, api.ListReasons)
		if err != nil || len(entries) != len(found) {
			t.Errorf("%d entries, want %d: %v", len(entries), len(found), err)
		}
		killed.End = "ended FAILED"
		for _, e := range entries {
			if diff := cmp.Diff(killed, e.Status); diff != "" {
				t.Errorf("%s (-want +got)\n%s", e.ID, diff)
			}
		}
		if waited := time.Since(start); waited != askTime || opened != 1 {
			t.Errorf("it waited for %s, and opened the store %d times", waited, opened)
		}
	})
}

// sluggish is a store that is slow to read each object.
type sluggish struct{ store.Store }

func (s sluggish) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	select {
	case <-time.After(time.Second):
		return s.Store.Open(ctx, name)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A store that can't answer for all jobs in time is still asked about the next ones.
func TestAStoreThatIsSlowIsNotSilent(t *testing.T) {
	objects := map[string]string{}
	var entries []api.JobSummary
	for i := range 10 * Parallel {
		id := fmt.Sprintf("cpu-%d", i)
		objects[id+"/handle.json"] = fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"gke","user":"ann"}`, id)
		entries = append(entries, api.JobSummary{ID: id, Store: "file:///slow", Hosts: 1})
	}
	s := storeWith(t, objects)
	synctest.Test(t, func(t *testing.T) {
		p := Registry{Store: store.None(nil), Kind: api.BackendGKE, OpenStore: func(string) (store.Store, error) { return sluggish{s}, nil }}
		more := p.additions()
		more.complete(t.Context(), entries, api.ListReasons)
		if entries[0].User != "ann" || entries[len(entries)-1].User != "" {
			t.Fatalf("the first is of %q, the last of %q", entries[0].User, entries[len(entries)-1].User)
		}
		more.complete(t.Context(), entries[len(entries)-1:], api.ListReasons)
		if got := entries[len(entries)-1].User; got != "ann" {
			t.Errorf("asked again, the last is of %q", got)
		}
	})
}

// The pods of earlier attempts may be gone: the records of attempts say how many there were, and when
// the first began. Without records, what the cluster says stands. A list without reasons only reads the
// records of jobs that are likely to have had earlier pods.
func TestEntriesTellWhichAttemptRuns(t *testing.T) {
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	running := func(id, pod string) api.JobSummary {
		return api.JobSummary{ID: id, Status: api.Status{State: api.Running, Attempt: 1},
			Workload: api.WorkloadFacts{CurrentPod: api.CurrentPod{Pod: pod, MayHaveEarlierPods: id == "late"}}}
	}
	p := Registry{Store: storeWith(t, map[string]string{
		"again/attempts/1.json": `{"version":1,"attempt":1,"uid":"a","started":"2026-01-01T00:00:00Z"}`,
		"again/attempts/2.json": `{"version":1,"attempt":2,"uid":"b"}`,
		"late/attempts/1.json":  `{"version":1,"attempt":1,"uid":"a","started":"2026-01-01T00:00:00Z"}`,
		"late/attempts/2.json":  `{"version":1,"attempt":2,"uid":"b"}`,
		"fresh/attempts/1.json": `{"version":1,"attempt":1,"uid":"a"}`,
	})}
	found := []api.JobSummary{running("again", "b"), running("late", "b"), running("fresh", "b"), running("silent", "b"), {ID: "waits", Status: api.Status{State: api.Pending, Attempt: 3}}}
	for i := range found {
		found[i].Store = p.Store.URL()
	}
	p.Backend = lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return found, nil })
	for detail, want := range map[api.ListLevel]map[string]int{
		api.ListStates:  {"again": 1, "late": 2, "fresh": 1, "silent": 1, "waits": 3},
		api.ListReasons: {"again": 2, "late": 2, "fresh": 2, "silent": 1, "waits": 3},
	} {
		entries, err := p.Entries(t.Context(), Filter{}, detail)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, e := range entries {
			got[e.ID] = e.Status.Attempt
			if again := e.ID == "again" || e.ID == "late"; again && e.Status.Started.Equal(first) != (want[e.ID] == 2) {
				t.Errorf("detail %d: %s began at %v", detail, e.ID, e.Status.Started)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("detail %d (-want +got)\n%s", detail, diff)
		}
	}
}

// The number of hosts of a LeaderWorkerSet comes from its pods or, when they are gone, from the handle.
func TestEntriesTellHowManyHostsThereAre(t *testing.T) {
	p := Registry{Store: storeWith(t, map[string]string{
		"set/handle.json": `{"version":1,"job_id":"set","backend":"lws","hosts":4}`,
		"map/handle.json": `{"version":1,"job_id":"map","backend":"gke","hosts":1,"map":{"inputs":9,"chunk":3,"parallelism":2}}`,
	})}
	p.Backend = lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) {
		return []api.JobSummary{{ID: "set", Store: p.Store.URL()}, {ID: "one", Store: p.Store.URL(), Hosts: 1}}, nil
	})
	for detail, want := range map[api.ListLevel]map[string]int{
		api.ListStates:  {"set": 0, "one": 1, "map": 2},
		api.ListReasons: {"set": 4, "one": 1, "map": 2},
	} {
		entries, err := p.Entries(t.Context(), Filter{Stored: true}, detail)
		got := map[string]int{}
		for _, e := range entries {
			got[e.ID] = e.Hosts
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("detail %d: %v (-want +got)\n%s", detail, err, diff)
		}
	}
}

// A job that waits in vain keeps what it has until it is cancelled. A list says so, too.
func TestEntriesTellWhatEndsAJobThatWaitsInVain(t *testing.T) {
	waits := api.Status{State: api.Pending, Message: "the pod was refused by warden: no", Next: "kubectl describe job", Unrecoverable: true}
	p := Registry{Store: storeWith(t, nil), Flags: " --context dev"}
	p.Backend = lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) {
		return []api.JobSummary{{ID: "a1", Namespace: "ml", Store: p.Store.URL(), Status: waits}}, nil
	})
	entries, err := p.Entries(t.Context(), Filter{}, api.ListReasons)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	if got, want := entries[0].Status.Next, "kubectl kinetic jobs cancel a1 -n ml --context dev"; got != want {
		t.Errorf("next is %q, want %q", got, want)
	}
}
