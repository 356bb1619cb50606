package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// listing returns a registry with workloads of these ids and an empty store.
func listing(t *testing.T, found ...api.JobSummary) Registry {
	p := Registry{Store: storeWith(t, nil)}
	for i := range found {
		found[i].Store = p.Store.URL()
	}
	p.Backend = lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return found, nil })
	return p
}

func TestResolveID(t *testing.T) {
	const first, second = "cpu-stub-20260101-000000-aaaaaaa", "cpu-stub-20260102-000000-bbbbbbb"
	var found []api.JobSummary
	for _, id := range []string{"cpu-eval-1", "cpu-train-1", "cpu-train-12", "l4-train-1", first, second, "bbbbbbb-mine", "my-1234567", "job-1a2b3c4d"} {
		found = append(found, api.JobSummary{ID: id})
	}
	p := listing(t, found...)
	tests := map[string]struct {
		word string
		want string
		err  string
	}{
		"the whole id":                     {word: "l4-train-1", want: "l4-train-1"},
		"an id that begins another":        {word: "cpu-train-1", want: "cpu-train-1"},
		"a prefix that only one has":       {word: "l4", want: "l4-train-1"},
		"a prefix that several have":       {word: "cpu-train", err: `job "cpu-train": 2 jobs match; be more specific:`},
		"the digits at the end":            {word: "aaaaaaa", want: first},
		"more of the end":                  {word: "000000-aaaaaaa", want: first},
		"the digits of the Python tool":    {word: "1a2b3c4d", want: "job-1a2b3c4d"},
		"some of the digits":               {word: "aaaaaa", err: "not found"},
		"digits that begin another id":     {word: "bbbbbbb", err: "2 jobs match"},
		"the end of an id of one's own":    {word: "1234567", err: "not found"},
		"a typing mistake":                 {word: "cpu-trian-1", err: "similar: cpu-train-1"},
		"a mistake before the time":        {word: "cpu-stbu", err: "similar: " + second},
		"like nothing":                     {word: "zzzzzzzzzzzzzzzzzzzz", err: "jobs list --all"},
		"nothing":                          {word: "", err: "empty"},
		"something that looks like a path": {word: "../cpu-train-1", err: "not found"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := &resolver{registry: p, handles: map[string]api.Handle{}}
			r.listWorkloads(t.Context())
			got, err := r.resolveID(t.Context(), tt.word)
			if tt.err == "" {
				if err != nil || got != tt.want {
					t.Fatalf("%q is %q, %v; want %q", tt.word, got, err, tt.want)
				}
				return
			}
			var known *IDError
			if !errors.As(err, &known) || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want one with %q", err, tt.err)
			}
		})
	}
	if _, err := listing(t).FindOne(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "there are no jobs here") {
		t.Errorf("without any job: %v", err)
	}
}

// The handle that shows whether a job is in this place is the one that the job gets.
func TestAPrefixReadsTheHandleOnce(t *testing.T) {
	names := make(chan string, 10)
	p := Registry{Store: opened{storeWith(t, map[string]string{"cpu-train-1/handle.json": `{"version":1,"job_id":"cpu-train-1","backend":"gke","func_name":"train"}`}), names},
		Backend: lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return nil, nil })}
	j, err := p.FindOne(t.Context(), "cpu")
	if err != nil || j.Handle.FuncName != "train" {
		t.Fatalf("found %+v, %v", j, err)
	}
	close(names)
	var read []string
	for name := range names {
		read = append(read, name)
	}
	if want := []string{"cpu/handle.json", "cpu-train-1/handle.json"}; !slices.Equal(read, want) {
		t.Errorf("read %q, want %q", read, want)
	}
}

// A handle of which only a part can be read is that of nobody's job: a prefix must not end it.
func TestAPrefixOfABrokenHandle(t *testing.T) {
	for _, broken := range []string{`"hosts":"many"`, `"created_at":"yesterday","user":"ada"`} {
		const id = "cpu-train-20260101-000000-0a1b2c3"
		handle := `{"version":1,"job_id":"` + id + `","backend":"gke",` + broken + `}`
		p := Registry{Store: storeWith(t, map[string]string{id + "/handle.json": handle}),
			Backend: lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return nil, nil })}
		if _, err := p.FindOne(t.Context(), "cpu"); err == nil || !strings.Contains(err.Error(), "not a handle") {
			t.Errorf("%s: error %v, want one that says that it is not a handle", broken, err)
		}
		_, errs := p.Find(t.Context(), []string{"cpu"}, FindOptions{Remains: true})
		if errs[0] == nil || !strings.Contains(errs[0].Error(), "its user is unknown") {
			t.Errorf("%s, of remains: error %v, want one that says that its user is unknown", broken, errs[0])
		}
	}
}

// The error about an ambiguous id lists the jobs with their states, the newest first.
func TestAmbiguousIDListsTheJobs(t *testing.T) {
	now := time.Now()
	handle := `{"version":1,"job_id":"cpu-a-2","backend":"gke","created_at":"2026-01-01T00:00:00Z"}`
	p := Registry{Store: storeWith(t, map[string]string{"cpu-a-2/handle.json": handle, "cpu-a-2/end.json": `{"version":1,"state":"FAILED","reason":"Cancelled"}`})}
	p.Backend = lists(func(_ context.Context, level api.ListLevel) ([]api.JobSummary, error) {
		w := api.JobSummary{ID: "cpu-a-10", Store: p.Store.URL(), Created: now.Add(-5 * time.Minute)}
		if level >= api.ListStates {
			w.Status.State = api.Running
		}
		return []api.JobSummary{w}, nil
	})
	_, err := p.FindOne(t.Context(), "cpu-a")
	if err == nil {
		t.Fatal("found one")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 || lines[1] != "  cpu-a-10  RUNNING    5m" || !strings.HasPrefix(lines[2], "  cpu-a-2   CANCELLED  ") {
		t.Errorf("said:\n%s", err)
	}
	var many []api.JobSummary
	for i := range 15 {
		many = append(many, api.JobSummary{ID: fmt.Sprintf("cpu-%d", i), Status: api.Status{State: api.Running}})
	}
	if _, err := listing(t, many...).FindOne(t.Context(), "cpu"); err == nil || !strings.HasSuffix(err.Error(), "\n  and 5 more") {
		t.Errorf("of many it said:\n%v", err)
	}
}

// Only a job that has not ended can be cancelled. A word names it if it is the user's own, and
// all other matches are ended runs of the same name.
func TestFindUnended(t *testing.T) {
	id := func(name string, day int) string {
		return fmt.Sprintf("cpu-%s-202601%02d-000000-aaaaaa%d", name, day, day)
	}
	states := map[string][]api.State{
		"a":      {api.Succeeded, api.Running, api.Failed},
		"b":      {api.Running, api.Pending, api.Failed},
		"c":      {api.Failed, api.Succeeded},
		"slow":   {api.Succeeded},
		"slower": {api.Running},
		"theirs": {api.Succeeded, api.Running},
	}
	var found []api.JobSummary
	objects := map[string]string{}
	for name, states := range states {
		for i, state := range states {
			user := CurrentUser()
			if name == "theirs" && state == api.Running {
				user = "someone-else"
			}
			id := id(name, i+1)
			found = append(found, api.JobSummary{ID: id, Status: api.Status{State: state}})
			objects[id+"/handle.json"] = fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"gke","user":%q}`, id, user)
		}
	}
	p := Registry{Store: storeWith(t, objects)}
	for i := range found {
		found[i].Store = p.Store.URL()
	}
	p.Backend = lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return found, nil })
	for word, want := range map[string]string{
		"cpu-a-":     id("a", 2),
		id("a", 1):   id("a", 1),
		"cpu-b":      "",
		"cpu-c":      "",
		"cpu-slow":   "",
		"cpu-theirs": "",
	} {
		found, failed := findRemains(t, p, FindOptions{Unended: true}, word)
		switch {
		case want == "" && (len(found) != 0 || len(failed) != 1 || !strings.Contains(failed[0].Error(), "jobs match")):
			t.Errorf("%s: got %v, %v", word, found, failed)
		case want != "" && (len(found) != 1 || found[0].ID() != want):
			t.Errorf("%s: got %v, %v, want %s", word, found, failed, want)
		}
	}
	if found, failed := findRemains(t, p, FindOptions{}, "cpu-a-"); len(found) != 0 || len(failed) != 1 {
		t.Errorf("to be cleaned up: found %v, %v", found, failed)
	}
}

// A command that ends or removes jobs takes no mere beginning of the ID of another user's job, or of one whose handle was lost.
func TestFindRemainsOfAnotherUser(t *testing.T) {
	const mine, theirs, lost = "cpu-mine-20260101-000000-aaaaaa1", "cpu-theirs-20260101-000000-aaaaaa2", "cpu-lost-20260101-000000-aaaaaa3"
	handle := `{"version":1,"job_id":%q,"backend":"gke","user":%q}`
	p := listing(t, api.JobSummary{ID: lost})
	p.Store = storeWith(t, map[string]string{
		mine + "/handle.json": fmt.Sprintf(handle, mine, CurrentUser()), theirs + "/handle.json": fmt.Sprintf(handle, theirs, "alice"),
	})
	p.OpenStore = func(string) (store.Store, error) { return p.Store, nil }
	for word, want := range map[string]string{"cpu-mine": mine, theirs: theirs, "aaaaaa2": theirs, lost: lost, "aaaaaa3": lost} {
		if found, failed := findRemains(t, p, FindOptions{}, word); len(found) != 1 || found[0].ID() != want {
			t.Errorf("%s: found %v, %v, want %q", word, found, failed, want)
		}
	}
	for word, want := range map[string]string{"cpu-theirs": theirs + " matches, which alice submitted", "cpu-lost": lost + " matches, whose handle can't be read"} {
		if found, failed := findRemains(t, p, FindOptions{}, word); len(failed) != 1 || !strings.Contains(failed[0].Error(), "only "+want) {
			t.Errorf("%s: found %v, %v, want %q", word, found, failed, want)
		}
	}
	if j, err := p.FindOne(t.Context(), "cpu-theirs"); err != nil || j.ID() != theirs {
		t.Errorf("to be read: %v, %v", j, err)
	}
}

// A job whose end can't be read may be the one that a word means.
func TestAmbiguousWithAnUnreadableEnd(t *testing.T) {
	const a, b = "cpu-train-20260101-100000-aaaaaaa", "cpu-train-20260101-120000-bbbbbbb"
	handle := func(id string) string { return fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"gke"}`, id) }
	p := Registry{Backend: listing(t).Backend, Store: storeWith(t, map[string]string{
		a + "/handle.json": handle(a), a + "/end.json": `{"version":1,"state":"SUCCEEDED"}`,
		b + "/handle.json": handle(b), b + "/end.json": `{"version":99,"state":"SUCCEEDED"}`,
	})}
	found, failed := findRemains(t, p, FindOptions{}, "cpu-train")
	if len(found) != 0 || len(failed) != 1 || !strings.Contains(failed[0].Error(), b+"  UNKNOWN") {
		t.Errorf("found %v, %v", found, failed)
	}
}

// A word names the only matching job of this registry, whatever else the store has; if
// there is none, that of another registry.
func TestFindByAPrefix(t *testing.T) {
	handle := func(id, namespace string) string {
		return `{"version":1,"job_id":"` + id + `","backend":"gke","namespace":"` + namespace + `","func_name":"f","created_at":"2026-01-01T00:00:00Z"}`
	}
	p := Registry{Namespace: "ml", Store: storeWith(t, map[string]string{
		"cpu-a-1/handle.json": handle("cpu-a-1", "ml"), "cpu-a-2/handle.json": handle("cpu-a-2", "other"), "cpu-a-3/call.json": "{}",
		"cpu-b-1/handle.json": handle("cpu-b-1", "ml"), "cpu-b-2/handle.json": handle("cpu-b-2", "ml"),
		"cpu-c-1/handle.json": handle("cpu-c-1", "other"),
		"cpu-d-1/handle.json": handle("cpu-d-1", "other"),
	}), Backend: lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) {
		return []api.JobSummary{{ID: "cpu-d-2", Namespace: "ml"}}, nil
	})}
	p.OpenStore = func(string) (store.Store, error) { return storeWith(t, nil), nil }
	for prefix, want := range map[string]string{
		"cpu-a": "cpu-a-1",
		"cpu-b": `job "cpu-b": 2 jobs match`,
		"cpu-c": "job cpu-c-1 is in namespace other",
		"cpu-d": "cpu-d-2",
		"cpu":   `4 jobs match`,
	} {
		got := ""
		if j, err := p.FindOne(t.Context(), prefix); err != nil {
			got = err.Error()
		} else {
			got = j.ID()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", prefix, got, want)
		}
	}
}

// The jobs are listed once for all words, and each word has its own error.
func TestFindSeveral(t *testing.T) {
	listed := 0
	p := listing(t, api.JobSummary{ID: "cpu-a-1"}, api.JobSummary{ID: "cpu-b-1"})
	list := p.Backend.List
	p.Backend = lists(func(ctx context.Context, d api.ListLevel) ([]api.JobSummary, error) {
		listed++
		return list(ctx, d)
	})
	jobs, errs := p.Find(t.Context(), []string{"cpu-b", "nope", "cpu-a-1"}, FindOptions{})
	if listed != 1 || errs[0] != nil || errs[2] != nil || jobs[0].ID() != "cpu-b-1" || jobs[2].ID() != "cpu-a-1" {
		t.Errorf("listed %d times, found %v, %v", listed, jobs, errs)
	}
	if errs[1] == nil || !strings.Contains(errs[1].Error(), `job "nope" not found`) {
		t.Errorf("a job that is not there: %v", errs[1])
	}
}

// unlistable is a store whose jobs can't be listed.
type unlistable struct{ store.Store }

func (unlistable) Dirs(context.Context, string) ([]string, error) {
	return nil, errors.New("bucket locked")
}

// If the store can't be listed, no prefix names a job: one that was not listed may match it, too.
func TestPrefixesWhereTheStoreCannotBeListed(t *testing.T) {
	p := listing(t, api.JobSummary{ID: "cpu-a-1"}, api.JobSummary{ID: "cpu-b-2"})
	p.Store = unlistable{p.Store}
	_, errs := p.Find(t.Context(), []string{"cpu-a", "cpu-b", "cpu-b-2"}, FindOptions{})
	for i, want := range []string{"bucket locked", "bucket locked", ""} {
		if (errs[i] == nil) != (want == "") || errs[i] != nil && errs[i].Error() != want {
			t.Errorf("word %d: got %v, want %q", i+1, errs[i], want)
		}
	}
}

// What the tool prints of a warm host is no job, but people try it.
func TestUnknownIDOfAWarmHost(t *testing.T) {
	ids := []string{"cpu-warm-up-20260101-000000-0a1b2c3"}
	for want, tt := range map[string]struct{ word, flags string }{
		`job "cpu-warm-20260101-000000-0a1b2c4" not found; similar: cpu-warm-up-20260101-000000-0a1b2c3; IDs of warm hosts are for kubectl kinetic jobs warm -n ml`: {"cpu-warm-20260101-000000-0a1b2c4", " -n ml"},
		`job "cpu-warm-up-20260101-000000-0a1b2c4" not found; similar: cpu-warm-up-20260101-000000-0a1b2c3`:                                                         {"cpu-warm-up-20260101-000000-0a1b2c4", " -n ml"},
		`job "cpu-warm-20260101-000000-0a1b2c4" not found; similar: cpu-warm-up-20260101-000000-0a1b2c3`:                                                            {"cpu-warm-20260101-000000-0a1b2c4", " --local"},
	} {
		if got := unknownID(tt.word, ids, tt.flags); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
