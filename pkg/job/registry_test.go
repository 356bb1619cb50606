package job

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestLocationFlags(t *testing.T) {
	tests := map[string]struct {
		handle api.Handle
		flags  string
		want   string
	}{
		"on this machine":               {api.Handle{Backend: api.BackendLocal}, "", " --local"},
		"in a cluster":                  {api.Handle{Backend: api.BackendGKE, Namespace: "ml"}, "", " -n ml"},
		"in one that a flag has chosen": {api.Handle{Backend: api.BackendGKE, Namespace: "ml"}, " --context=dev", " -n ml --context=dev"},
		"in an unknown namespace":       {api.Handle{Backend: api.BackendGKE}, " --context=dev", " --context=dev"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (Registry{Flags: tt.flags, Store: store.None(nil)}).Job(tt.handle).LocationFlags(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// counting is a store that counts how often its jobs are listed.
type counting struct {
	store.Store
	dirs *int
}

func (c counting) Dirs(ctx context.Context, prefix string) ([]string, error) {
	*c.dirs++
	return c.Store.Dirs(ctx, prefix)
}

// findRemains finds jobs and their remains, and returns them and the errors without gaps.
func findRemains(t *testing.T, reg Registry, o FindOptions, words ...string) (found []*Job, failed []error) {
	o.Remains = true
	jobs, errs := reg.Find(t.Context(), words, o)
	for i, j := range jobs {
		if (j == nil) == (errs[i] == nil) {
			t.Errorf("%s: job %v and error %v", words[i], j, errs[i])
		}
		if j != nil {
			found = append(found, j)
		} else {
			failed = append(failed, errs[i])
		}
	}
	return found, failed
}

func TestFindLooksOnce(t *testing.T) {
	listed, dirs := 0, 0
	p := Registry{Store: counting{storeWith(t, map[string]string{"a1/handle.json": ourHandle, "b2/call.json": "{}"}), &dirs},
		Backend: lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) {
			listed++
			return []api.JobSummary{{ID: "c3", Store: "gs://other"}, {ID: "d4", Store: "gs://other"}}, nil
		}),
		OpenStore: func(string) (store.Store, error) { return storeWith(t, nil), nil },
	}
	jobs, failed := findRemains(t, p, FindOptions{}, "d4", "a1", "b2", "c3", "a")
	if len(failed) > 0 {
		t.Fatal(failed)
	}
	var ids []string
	for _, j := range jobs {
		ids = append(ids, j.ID())
	}
	if want := []string{"d4", "a1", "b2", "c3", "a1"}; !slices.Equal(ids, want) {
		t.Errorf("found %v, want %v", ids, want)
	}
	if listed != 1 || dirs != 1 {
		t.Errorf("listed %d times in the cluster and %d times in the store, want once each", listed, dirs)
	}
	if jobs[0].Store != jobs[3].Store {
		t.Error("a store was opened twice")
	}
	jobs, failed = findRemains(t, p, FindOptions{}, "nothing", "a1", "else", "c3")
	if len(jobs) != 2 || jobs[0].ID() != "a1" || jobs[1].ID() != "c3" {
		t.Errorf("beside jobs that are not there: %v", jobs)
	}
	if len(failed) != 2 || !strings.Contains(failed[0].Error(), `job "nothing"`) || !strings.Contains(failed[1].Error(), `job "else"`) {
		t.Errorf("jobs that are not there: %v", failed)
	}
}

// A directory without a handle is a job only if it looks like one.
func TestFindRemains(t *testing.T) {
	const made = "cpu-f-20260101-000000-0a1b2c3"
	tests := map[string]struct {
		id      string
		objects []string
		want    string // of the error
	}{
		"a record":                           {"one-1", []string{"one-1/call.json"}, ""},
		"outputs, of an id that we made":     {made, []string{made + "/outputs/x"}, ""},
		"outputs of the Python tool":         {"job-1a2b3c4d", []string{"job-1a2b3c4d/.debug_ready", "outputs/job-1a2b3c4d/x"}, ""},
		"outputs, of an id that anybody has": {"one-1", []string{"one-1/outputs/x"}, "it was not deleted; to delete it: rm -r /"},
		"outputs that a runner saved":        {"one-1", []string{"one-1/outputs/x", "one-1/sync/0.json"}, ""},
		"somebody's sync":                    {"one-1", []string{"one-1/outputs/x", "one-1/sync/list.json"}, "doesn't look like a job"},
		"somebody's files":                   {"datasets", []string{"datasets/train.csv"}, "doesn't look like a job"},
		"another store":                      {"team-b", []string{"team-b/blobs/sha256/aa/bb", "team-b/one-1/handle.json"}, "doesn't look like a job"},
		"a beginning alone":                  {"one", []string{"one-1/call.json"}, `job "one" not found; similar`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			objects := map[string]string{}
			for _, o := range tt.objects {
				objects[o] = "{}"
			}
			p := Registry{Store: storeWith(t, objects), Backend: lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return nil, nil })}
			_, failed := findRemains(t, p, FindOptions{}, tt.id)
			err := errors.Join(failed...)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// What tells which outputs are complete goes with the outputs, or with the job if it has
// none of its own.
func TestCleanupOfIndexes(t *testing.T) {
	for name, tt := range map[string]struct {
		file, outputDir string
		options         CleanupOptions
		kept            bool
	}{
		"outputs stay":             {file: "a1/outputs/last.pt", options: CleanupOptions{Stored: true}, kept: true},
		"outputs without names":    {file: "a1/sync/3/aa", options: CleanupOptions{Stored: true}, kept: true},
		"an unfinished output":     {file: "a1/incomplete/3/last.pt", options: CleanupOptions{Stored: true}, kept: true},
		"no outputs":               {file: "a1/result.json", options: CleanupOptions{Stored: true}},
		"no outputs, records stay": {file: "a1/result.json", options: CleanupOptions{Workload: true}, kept: true},
		"outputs go":               {file: "a1/sync/3/aa", options: CleanupOptions{Outputs: true}},
		"outputs elsewhere":        {file: "a1/result.json", outputDir: "gs://team/ckpt", options: CleanupOptions{Stored: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := storeWith(t, map[string]string{"a1/handle.json": ourHandle, store.Sync("a1", 3): "{}", tt.file: "{}"})
			j := &Job{Handle: api.Handle{JobID: "a1", OutputDir: tt.outputDir}, Store: s}
			if tt.options.Workload {
				j.Backend = steps{{State: api.Succeeded}}
			}
			if _, err := j.Cleanup(t.Context(), tt.options, true, unseen); err != nil {
				t.Fatal(err)
			}
			kept := false
			for o, err := range s.List(t.Context(), store.SyncDir("a1"), "") {
				kept = kept || err == nil && store.IsSync("a1", o.Name)
			}
			if kept != tt.kept {
				t.Errorf("kept the index: %v, want %v", kept, tt.kept)
			}
		})
	}
}

func TestCleanupLeavesWhatIsNotTheJobs(t *testing.T) {
	s := storeWith(t, map[string]string{"a1/handle.json": ourHandle, "a1/call.json": "{}", "a1/logs/0/1-1.log": "x", "a1/outputs/x": "x", "a1/sync/0.json": "{}",
		"a1/notes.txt": "x", "a1/b2/handle.json": "{}"})
	j := &Job{Handle: api.Handle{JobID: "a1"}, Store: s}
	if _, err := j.Cleanup(t.Context(), CleanupOptions{Stored: true, Outputs: true}, true, unseen); err != nil {
		t.Fatal(err)
	}
	var names []string
	for o, err := range s.List(t.Context(), "a1/", "") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, o.Name)
	}
	if want := []string{"a1/b2/handle.json", "a1/notes.txt"}; !slices.Equal(names, want) {
		t.Errorf("left %v, want %v", names, want)
	}
}

// Without a usual store, jobs are found by their workloads, which name their stores.
func TestPlaceWithoutAStore(t *testing.T) {
	why := errors.New("set KINETIC_STORE")
	theirs := storeWith(t, map[string]string{"a1/handle.json": ourHandle})
	p := Registry{Store: store.None(why), Backend: lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) {
		return []api.JobSummary{{ID: "a1", Store: theirs.URL(), Status: api.Status{State: api.Running}}}, nil
	}), OpenStore: func(string) (store.Store, error) { return theirs, nil }}
	for _, id := range []string{"a1", "a"} {
		if j, err := p.FindOne(t.Context(), id); err != nil || j.ID() != "a1" || j.Store != theirs {
			t.Errorf("attaching to %s: %v", id, err)
		}
		if _, failed := findRemains(t, p, FindOptions{}, id); len(failed) > 0 {
			t.Errorf("attaching to %s in order to remove it: %v", id, failed)
		}
	}
	if _, err := p.FindOne(t.Context(), "zz-9"); !errors.Is(err, why) || !strings.Contains(err.Error(), "not found") {
		t.Errorf("a job without a workload: %v", err)
	}
	if entries, err := p.Entries(t.Context(), Filter{}, api.ListStates); err != nil || len(entries) != 1 {
		t.Errorf("listing: %v, %v", entries, err)
	}
	if entries, err := p.Entries(t.Context(), Filter{Stored: true}, api.ListStates); !errors.Is(err, why) || len(entries) != 1 {
		t.Errorf("listing what is stored, too: %v, %v", entries, err)
	}
}

// saysElsewhere reports whether an error says that a job is in another place, and not that there is none.
func saysElsewhere(err error) bool {
	var unknown *IDError
	return errors.As(err, &unknown) && unknown.Kind() == api.KindElsewhere
}

// Clusters without a name, such as kind's, may share a store: a job that isn't in this
// one may be running in the other. A workload that is found is in this cluster, whatever
// the cluster's address was when the job was submitted.
func TestRegistryTellsClustersApart(t *testing.T) {
	handle := func(id, name, cluster string) string {
		return `{"version":1,"job_id":"` + id + `","backend":"gke","namespace":"ml","cluster_name":"` + name + `","cluster_id":"` + cluster +
			`","server":"https://192.0.2.9","func_name":"f","created_at":"2026-01-01T00:00:00Z"}`
	}
	objects := map[string]string{
		"here/handle.json":    handle("here", "", "aa"),
		"there/handle.json":   handle("there", "", "bb"),
		"gke/handle.json":     handle("gke", "main", "cc"),
		"old/handle.json":     handle("old", "kinetic-cluster", ""),
		"rotated/handle.json": handle("rotated", "", "dd"),
	}
	const another = "is in another cluster, whose server was https://192.0.2.9 when it was submitted: choose it with --context"
	for name, tt := range map[string]struct {
		cluster, id string // of the place
		listed      []string
		refused     map[string]string
	}{
		"one without a name":    {"", "aa", []string{"here", "old", "rotated"}, map[string]string{"there": another, "gke": another}},
		"one of GKE":            {"main", "ee", []string{"gke", "rotated"}, map[string]string{"here": another, "there": another, "old": "add --cluster kinetic-cluster"}},
		"that of GKE":           {"main", "cc", []string{"gke", "rotated"}, map[string]string{"here": another, "there": another}},
		"an older version's":    {"kinetic-cluster", "", []string{"here", "old", "rotated", "there"}, map[string]string{"gke": "add --cluster main"}},
		"one that is not known": {"", "", []string{"gke", "here", "old", "rotated", "there"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := Registry{Namespace: "ml", Cluster: tt.cluster, ClusterID: tt.id, Store: storeWith(t, objects)}
			p.Backend = lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) {
				return []api.JobSummary{{ID: "rotated", Namespace: "ml", Store: p.Store.URL(), Status: api.Status{State: api.Running}}}, nil
			})
			entries, err := p.Entries(t.Context(), Filter{Stored: true}, api.ListStates)
			if err != nil {
				t.Fatal(err)
			}
			var listed []string
			for _, e := range entries {
				listed = append(listed, e.ID)
			}
			slices.Sort(listed)
			if !slices.Equal(listed, tt.listed) {
				t.Errorf("listed %v, want %v", listed, tt.listed)
			}
			for _, id := range tt.listed {
				if j, err := p.FindOne(t.Context(), id); err != nil || j.ID() != id {
					t.Errorf("attaching to %s: %v", id, err)
				}
				if _, failed := findRemains(t, p, FindOptions{}, id); len(failed) > 0 {
					t.Errorf("attaching to %s in order to remove it: %v", id, failed)
				}
			}
			for id, want := range tt.refused {
				if _, err := p.FindOne(t.Context(), id); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("attaching to %s: %v, want %q", id, err, want)
				}
				if _, failed := findRemains(t, p, FindOptions{}, id); len(failed) != 1 || !saysElsewhere(failed[0]) {
					t.Errorf("attaching to %s in order to remove it: %v, which is not of the kind %s", id, failed, api.KindElsewhere)
				}
				if _, failed := findRemains(t, p, FindOptions{}, id); len(failed) != 1 || !strings.Contains(failed[0].Error(), want) {
					t.Errorf("attaching to %s in order to remove it: %v, want %q", id, failed, want)
				}
			}
		})
	}
}

// A handle does not name the cluster if its name is only a guess: another cluster may have that name.
func TestNewJobTellsItsCluster(t *testing.T) {
	spec := api.Spec{ID: "a1", Cluster: "kinetic-cluster", Zone: "us-central1-a", Placement: api.Placement{Backend: api.BackendGKE}}
	h := Registry{Store: store.None(nil), ClusterID: "aa", Server: "https://127.0.0.1:6443"}.NewJob(spec).Handle
	if h.ClusterName != "" || h.Zone != "" || h.ClusterID != "aa" || h.Server != "https://127.0.0.1:6443" {
		t.Errorf("without a name: %+v", h)
	}
	h = Registry{Store: store.None(nil), Cluster: "kinetic-cluster", ClusterID: "aa"}.NewJob(spec).Handle
	if h.ClusterName != "kinetic-cluster" || h.Zone != "us-central1-a" || h.ClusterID != "aa" {
		t.Errorf("with one: %+v", h)
	}
}

func TestCanBeID(t *testing.T) {
	for word, want := range map[string]bool{
		"a": true, "a1": true, "cpu-": true, "data": true, "cpu-train-20260417-153012-abc1234": true,
		strings.Repeat("a", 50): true,
		strings.Repeat("a", 51): false,
		"":                      false, "-a": false, "A1": false, "a/b": false, "a_b": false, "..": false,
	} {
		if CanBeID(word) != want {
			t.Errorf("%q: got %v", word, !want)
		}
	}
}
