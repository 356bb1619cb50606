package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// opened is a store that counts which objects are read.
type opened struct {
	store.Store
	names chan string
}

func (o opened) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	o.names <- name
	return o.Store.Open(ctx, name)
}

func TestNewest(t *testing.T) {
	handle := func(id, user, namespace, labels string, hour int) string {
		return fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"gke","namespace":%q,"user":%q,"labels":{%s},"created_at":"2026-01-01T%02d:00:00Z"}`, id, namespace, user, labels, hour)
	}
	const mine, theirs, elsewhere = "cpu-f-20260101-100000-aaaaaaa", "cpu-f-20260101-120000-bbbbbbb", "cpu-f-20260101-130000-ccccccc"
	p := Registry{Namespace: "ml", Store: storeWith(t, map[string]string{
		mine + "/handle.json":                     handle(mine, "ann", "ml", `"app":"a"`, 10),
		theirs + "/handle.json":                   handle(theirs, "bob", "ml", "", 12),
		elsewhere + "/handle.json":                handle(elsewhere, "ann", "other", "", 13),
		"chosen/handle.json":                      handle("chosen", "ann", "ml", "", 9),
		"runs/handle.json":                        handle("runs", "ann", "ml", "", 8),
		"cpu-f-20260101-140000-ddddddd/call.json": "{}",
		"job-1a2b3c4d/handle.json":                pythonHandle,
	})}
	p.Backend = lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) {
		return []api.JobSummary{{ID: "runs", Namespace: "ml", Store: p.Store.URL(), Created: time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC), Workload: api.WorkloadFacts{Labels: map[string]string{"app": "b"}}},
			{ID: "bare", Namespace: "ml", Store: p.Store.URL(), Created: time.Date(2026, 1, 1, 11, 0, 0, 0, time.UTC)}}, nil
	})
	for name, tt := range map[string]struct {
		user, selector string
		want           string
	}{
		"of one user":               {"ann", "", mine},
		"of another":                {"bob", "", theirs},
		"of anybody":                {"", "", "job-1a2b3c4d"},
		"with a label":              {"ann", "app in (a,b)", mine},
		"with that of its workload": {"ann", "app=b", "runs"},
		"without the label":         {"ann", "!app", "chosen"},
		"of nobody":                 {"eve", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := Filter{User: tt.user}
			if tt.selector != "" {
				var err error
				if f.Selector, err = labels.Parse(tt.selector); err != nil {
					t.Fatal(err)
				}
			}
			j, err := p.Newest(t.Context(), f)
			if tt.want == "" {
				if !errors.Is(err, ErrNoJob) {
					t.Errorf("got %v, %v", j, err)
				}
				return
			}
			if err != nil || j.ID() != tt.want {
				t.Errorf("got %v, %v; want %s", j, err, tt.want)
			}
		})
	}
}

// If a job can't be seen, that does not mean that there is none.
func TestNewestWhereTheClusterIsAway(t *testing.T) {
	away := errors.New("dial tcp: i/o timeout")
	p := Registry{Store: storeWith(t, nil), Backend: lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return nil, away })}
	if _, err := p.Newest(t.Context(), Filter{}); !errors.Is(err, away) || errors.Is(err, ErrNoJob) {
		t.Errorf("got %v", err)
	}
	p.Store = storeWith(t, map[string]string{"a1/handle.json": ourHandle})
	if j, err := p.Newest(t.Context(), Filter{}); err != nil || j.ID() != "a1" {
		t.Errorf("of the store: got %v, %v", j, err)
	}
}

// A store may hold thousands of jobs.
func TestNewestReadsFewHandles(t *testing.T) {
	objects := map[string]string{}
	for i := range 100 {
		id := fmt.Sprintf("cpu-f-202601%02d-0%d0000-aaaaaaa", i/10+1, i%10)
		objects[id+"/handle.json"] = fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"gke","user":"ann","created_at":"2026-01-%02dT0%d:00:00Z"}`, id, i/10+1, i%10)
	}
	names := make(chan string, 1000)
	p := Registry{Store: opened{storeWith(t, objects), names}, Backend: lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return nil, nil })}
	j, err := p.Newest(t.Context(), Filter{User: "ann"})
	if err != nil || j.ID() != "cpu-f-20260110-090000-aaaaaaa" {
		t.Fatalf("got %v, %v", j, err)
	}
	if n := len(names); n > 2*Parallel {
		t.Errorf("read %d objects", n)
	}
}

// A list of one user's jobs says what it could not find out.
func TestEntriesOfAUser(t *testing.T) {
	handle := func(id, user string) string {
		return fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"gke","user":%q,"image_uri":"python","cpu":"1","retries":2,"created_at":"2026-01-01T00:00:00Z"}`, id, user)
	}
	p := Registry{Store: storeWith(t, map[string]string{"a1/handle.json": handle("a1", "ann"), "b2/handle.json": handle("b2", "bob"), "c3/handle.json": handle("c3", "ann"), "odd/handle.json": "{"})}
	running := func(id string) api.JobSummary {
		return api.JobSummary{ID: id, Store: p.Store.URL(), Status: api.Status{State: api.Running}}
	}
	found := []api.JobSummary{running("a1"), running("b2"), running("bare")}
	p.Backend = lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return found, nil })
	entries, err := p.Entries(t.Context(), Filter{User: "ann", Stored: true}, api.ListStates)
	if err != nil || len(entries) != 2 || entries[0].ID+entries[1].ID != "a1c3" && entries[0].ID+entries[1].ID != "c3a1" {
		t.Errorf("got %v, %v", entries, err)
	}
	entries, err = p.Entries(t.Context(), Filter{User: "ann"}, api.ListReasons)
	if want := (api.JobDetails{User: "ann", Image: "python", CPU: "1", MaxAttempts: 3}); err != nil || len(entries) != 1 || fmt.Sprint(entries[0].JobDetails) != fmt.Sprint(want) {
		t.Errorf("got %+v, %v; want %+v", entries, err, want)
	}
	found = append(found, running("odd"))
	entries, err = p.Entries(t.Context(), Filter{User: "ann"}, api.ListStates)
	if err == nil || !strings.Contains(err.Error(), "odd") || len(entries) != 1 {
		t.Errorf("beside a handle that can't be read: %v, %v", entries, err)
	}
}

// A watch of one user's jobs reports no other jobs, and reads each handle once.
func TestWatchEntriesOfAUser(t *testing.T) {
	handle := func(id, user string) string {
		return fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"gke","user":%q,"created_at":"2026-01-01T00:00:00Z"}`, id, user)
	}
	names := make(chan string, 100)
	p := Registry{Store: opened{storeWith(t, map[string]string{"a1/handle.json": handle("a1", "ann"), "b2/handle.json": handle("b2", "bob"), "c3/handle.json": handle("c3", "ann")}), names}}
	state := func(id string, s api.State) api.JobSummary {
		return api.JobSummary{ID: id, Function: "f", Store: p.Store.URL(), Status: api.Status{State: s}}
	}
	gone := func(id string) api.JobSummary { return api.JobSummary{ID: id, Status: api.Status{State: api.NotFound}} }
	steps := [][]api.JobSummary{{state("a1", api.Pending), state("b2", api.Pending)}, {state("a1", api.Running), state("b2", api.Running)},
		{state("c3", api.Pending)}, {gone("a1"), gone("b2")}}
	over := errors.New("over")
	p.Backend = watches(func(_ context.Context, _ api.ListLevel, seen func([]api.JobSummary) error) error {
		for _, step := range steps {
			if err := seen(step); err != nil {
				return err
			}
		}
		return over
	})
	var got []string
	err := p.WatchEntries(t.Context(), Filter{User: "ann"}, api.ListStates, func(entries []api.JobSummary) error {
		for _, e := range entries {
			got = append(got, e.ID+" "+string(e.State))
		}
		return nil
	})
	if want := "a1 PENDING, a1 RUNNING, c3 PENDING, a1 NOT_FOUND"; !errors.Is(err, over) || strings.Join(got, ", ") != want {
		t.Errorf("told %q, %v; want %q", got, err, want)
	}
	close(names)
	handles := map[string]int{}
	for name := range names {
		handles[name]++
	}
	for _, id := range []string{"a1", "b2", "c3"} {
		if n := handles[id+"/handle.json"]; n != 1 {
			t.Errorf("the handle of %s was read %d times", id, n)
		}
	}
}

// A job whose handle can't be read may be the newest one.
func TestNewestBehindAnUnreadableHandle(t *testing.T) {
	const older, newer = "cpu-train-20260101-100000-aaaaaaa", "cpu-train-20260101-120000-bbbbbbb"
	p := Registry{Store: storeWith(t, map[string]string{
		older + "/handle.json": fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"gke","user":"ann","created_at":"2026-01-01T10:00:00Z"}`, older),
		newer + "/handle.json": fmt.Sprintf(`{"version":99,"job_id":%q,"user":"ann"}`, newer),
	})}
	for name, found := range map[string][]api.JobSummary{
		"stored": nil,
		"runs":   {{ID: newer, Store: p.Store.URL(), Created: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}},
	} {
		p.Backend = lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) { return found, nil })
		if j, err := p.Newest(t.Context(), Filter{User: "ann"}); err == nil || !strings.Contains(err.Error(), "version 99") {
			t.Errorf("%s: got %v, %v", name, j, err)
		}
	}
}

// The cluster's clock may differ from the submitter's.
func TestNewestBySubmittersClock(t *testing.T) {
	const older, newer = "cpu-train-20260101-120200-aaaaaaa", "cpu-train-20260101-120300-bbbbbbb"
	handle := func(id, at string) string {
		return fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"gke","user":"ann","created_at":"2026-01-01T%sZ"}`, id, at)
	}
	p := Registry{Store: storeWith(t, map[string]string{older + "/handle.json": handle(older, "12:02:00"), newer + "/handle.json": handle(newer, "12:03:00")})}
	p.Backend = lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) {
		return []api.JobSummary{{ID: newer, Store: p.Store.URL(), Created: time.Date(2026, 1, 1, 11, 58, 0, 0, time.UTC)}}, nil
	})
	if j, err := p.Newest(t.Context(), Filter{User: "ann"}); err != nil || j.ID() != newer {
		t.Errorf("got %v, %v, want %s", j, err, newer)
	}
}
