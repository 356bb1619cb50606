package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func found(id string, state api.State, message string) api.JobSummary {
	return api.JobSummary{ID: id, Namespace: "ml", Function: "train", Hosts: 1, Created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Status: api.Status{State: state, Message: message}}
}

// deleting is a job whose workload is being deleted.
func deleting(id string, state api.State) api.JobSummary {
	e := found(id, state, "")
	e.Workload.Deleted = true
	return e
}

func TestWatchEntries(t *testing.T) {
	failed := []api.State{api.Failed}
	running, waiting := found("a", api.Running, ""), found("b", api.Pending, "no node")
	tests := map[string]struct {
		filter Filter
		steps  [][]api.JobSummary
		want   [][]string // what is reported: id, function, state, outcome
	}{
		"nothing changes": {steps: [][]api.JobSummary{{running}, {running}}, want: [][]string{{"a train RUNNING running"}}},
		"a state changes": {steps: [][]api.JobSummary{{running, waiting}, {found("a", api.Succeeded, "")}},
			want: [][]string{{"a train RUNNING running", "b train PENDING waiting: no node"}, {"a train SUCCEEDED succeeded"}}},
		"another reason to wait": {steps: [][]api.JobSummary{{waiting}, {found("b", api.Pending, "no quota")}},
			want: [][]string{{"b train PENDING waiting: no node"}, {"b train PENDING waiting: no quota"}}},
		"one appears": {steps: [][]api.JobSummary{nil, {running}}, want: [][]string{nil, {"a train RUNNING running"}}},
		"one goes, which is told once and with its name": {
			steps: [][]api.JobSummary{{running}, {{ID: "a", Namespace: "ml", Status: api.Status{State: api.NotFound}}}, {{ID: "a", Namespace: "ml", Status: api.Status{State: api.NotFound}}}},
			want:  [][]string{{"a train RUNNING running"}, {"a train NOT_FOUND not found"}}},
		"the last pods of one that was gone before": {steps: [][]api.JobSummary{nil, {{ID: "a", Namespace: "ml", Status: api.Status{State: api.NotFound}}}}, want: [][]string{nil}},
		"only what enters or leaves the chosen states": {filter: Filter{States: failed},
			steps: [][]api.JobSummary{{running, waiting}, {found("a", api.Failed, "no")}, {found("a", api.Running, "")}, {found("b", api.Running, "")}},
			want:  [][]string{nil, {"a train FAILED failed: no"}, {"a train RUNNING running"}}},
		"one is cancelled, whose pods go first": {
			steps: [][]api.JobSummary{{running, waiting}, {deleting("a", api.Running)}, {deleting("a", api.Pending), deleting("b", api.Pending)}, {{ID: "a", Namespace: "ml", Status: api.Status{State: api.NotFound}}}},
			want:  [][]string{{"a train RUNNING running", "b train PENDING waiting: no node"}, {"b train PENDING waiting"}, {"a train NOT_FOUND not found"}}},
		"one that waited is cancelled while its pods start": {
			steps: [][]api.JobSummary{{waiting}, {deleting("b", api.Running)}, {deleting("b", api.Pending)}},
			want:  [][]string{{"b train PENDING waiting: no node"}, {"b train RUNNING running"}}},
		"the limit is for the beginning": {filter: Filter{Limit: 1}, steps: [][]api.JobSummary{{running, waiting}, {found("b", api.Running, "")}},
			want: [][]string{{"a train RUNNING running"}, {"b train RUNNING running"}}},
	}
	over := errors.New("over")
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := Registry{Store: storeWith(t, nil), Backend: watches(func(_ context.Context, _ api.ListLevel, seen func([]api.JobSummary) error) error {
				for _, step := range tt.steps {
					if err := seen(step); err != nil {
						return err
					}
				}
				return over
			})}
			var got [][]string
			err := p.WatchEntries(t.Context(), tt.filter, api.ListReasons, func(entries []api.JobSummary) error {
				var lines []string
				for _, e := range entries {
					lines = append(lines, e.ID+" "+e.Function+" "+string(e.State)+" "+e.Status.Outcome())
				}
				got = append(got, lines)
				return nil
			})
			if !errors.Is(err, over) {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A screen shows hosts, and needs to know when one of them changes.
func TestALiveWatchTellsOfHosts(t *testing.T) {
	running := func(hosts ...api.State) api.JobSummary {
		e := api.JobSummary{ID: "a", Namespace: "ml", State: api.Running, Status: api.Status{State: api.Running}}
		for n, state := range hosts {
			e.Workload.Hosts = append(e.Workload.Hosts, api.Host{Host: n, State: state})
		}
		return e
	}
	for live, want := range map[bool]int{true: 1, false: 0} {
		told := map[jobKey]api.JobSummary{}
		f := Filter{Live: live}
		f.changed(told, []api.JobSummary{running(api.Running, api.Pending)})
		if changes, _ := f.changed(told, []api.JobSummary{running(api.Running, api.Running)}); len(changes) != want {
			t.Errorf("live %v: told %v", live, changes)
		}
		if changes, _ := f.changed(told, []api.JobSummary{running(api.Running, api.Running)}); len(changes) != 0 {
			t.Errorf("live %v, nothing has changed: told %v", live, changes)
		}
		if got := f.completed(api.ListReasons) == api.ListReasons; got == live {
			t.Errorf("live %v: handles are read: %v", live, got)
		}
	}
}

// Jobs come and go while a watch runs for weeks.
func TestAWatchForgetsJobsThatAreGone(t *testing.T) {
	told := map[jobKey]api.JobSummary{}
	for _, id := range []string{"a", "b", "c"} {
		running := api.JobSummary{ID: id, Namespace: "ml", State: api.Running}
		gone := api.JobSummary{ID: id, Namespace: "ml", State: api.NotFound}
		if changes, _ := (Filter{}).changed(told, []api.JobSummary{running}); len(changes) != 1 {
			t.Errorf("%s runs: told %v", id, changes)
		}
		if changes, _ := (Filter{}).changed(told, []api.JobSummary{gone}); len(changes) != 1 {
			t.Errorf("%s is gone: told %v", id, changes)
		}
		if changes, _ := (Filter{}).changed(told, []api.JobSummary{gone}); len(changes) != 0 {
			t.Errorf("%s is gone: told again %v", id, changes)
		}
	}
	if len(told) > 0 {
		t.Errorf("kept %v", told)
	}
}

// A watch reports how a job ended whose workload disappears.
func TestWatchEntriesTellHowAJobEndedThatGoes(t *testing.T) {
	p := Registry{Store: storeWith(t, map[string]string{"a/end.json": succeededEnd, "a/collected.json": `{"version":1}`})}
	running := found("a", api.Running, "")
	running.Store = p.Store.URL()
	p.Backend = watches(func(_ context.Context, _ api.ListLevel, seen func([]api.JobSummary) error) error {
		return errors.Join(seen([]api.JobSummary{running}), seen([]api.JobSummary{{ID: "a", Namespace: "ml", Status: api.Status{State: api.NotFound}}}))
	})
	var last api.JobSummary
	err := p.WatchEntries(t.Context(), Filter{}, api.ListStates, func(entries []api.JobSummary) error {
		last = entries[0]
		return nil
	})
	if err != nil || last.State != api.NotFound || last.Status.Ended != "SUCCEEDED" || !last.Status.Collected {
		t.Errorf("told %+v, %v", last, err)
	}
}

// The filter chooses jobs by their store, and cancelled jobs in any state. After the workload is gone, the store says that
// a job was cancelled.
func TestJobsAreChosen(t *testing.T) {
	cancelled, gone := api.Status{State: api.Failed, Reason: api.Cancelled}, api.Status{State: api.NotFound, Ended: api.CancelledWord}
	ended := api.Status{State: api.NotFound, Ended: string(api.Succeeded)}
	for name, tt := range map[string]struct {
		filter Filter
		job    api.JobSummary
		want   bool
	}{
		"with a workload":        {Filter{Cancelled: true}, api.JobSummary{State: api.Failed, Status: cancelled}, true},
		"without one":            {Filter{Cancelled: true}, api.JobSummary{State: api.NotFound, Status: gone}, true},
		"not a failed one":       {Filter{Cancelled: true}, api.JobSummary{State: api.Failed}, false},
		"nor what runs":          {Filter{Cancelled: true}, api.JobSummary{State: api.Running}, false},
		"next to a state":        {Filter{Cancelled: true, States: []api.State{api.Running}}, api.JobSummary{State: api.Running}, true},
		"by its state":           {Filter{States: []api.State{api.Failed}}, api.JobSummary{State: api.Failed, Status: cancelled}, true},
		"by how it ended":        {Filter{ByEnd: true, States: []api.State{api.Succeeded}}, api.JobSummary{State: api.NotFound, Status: ended}, true},
		"not by how it ended":    {Filter{States: []api.State{api.Succeeded}}, api.JobSummary{State: api.NotFound, Status: ended}, false},
		"in its store":           {Filter{Store: "gs://a"}, api.JobSummary{Store: "gs://a"}, true},
		"in no store":            {Filter{Store: "gs://a"}, api.JobSummary{}, true},
		"not in another store":   {Filter{Store: "gs://a"}, api.JobSummary{Store: "gs://b"}, false},
		"not by another's state": {Filter{States: []api.State{api.Running}}, api.JobSummary{State: api.NotFound, Status: gone}, false},
	} {
		if got := tt.filter.wants(tt.job); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	const end = `{"version":1,"state":"FAILED","reason":"Cancelled","by":"cancel"}`
	p := Registry{Store: storeWith(t, map[string]string{"a/end.json": end, "b/end.json": succeededEnd})}
	var before, after []api.JobSummary
	for _, id := range []string{"a", "b"} {
		running := found(id, api.Running, "")
		running.Store = p.Store.URL()
		before, after = append(before, running), append(after, api.JobSummary{ID: id, Namespace: "ml", Status: api.Status{State: api.NotFound}})
	}
	p.Backend = watches(func(_ context.Context, _ api.ListLevel, seen func([]api.JobSummary) error) error {
		return errors.Join(seen(before), seen(after))
	})
	var told []string
	err := p.WatchEntries(t.Context(), Filter{Cancelled: true}, api.ListStates, func(entries []api.JobSummary) error {
		for _, e := range entries {
			told = append(told, e.ID+" "+e.Word())
		}
		return nil
	})
	if want := []string{"a CANCELLED"}; err != nil || !cmp.Equal(told, want) {
		t.Errorf("a watch told %v, %v, want %v", told, err, want)
	}
}

// Like a list, a watch says when a job began whose first pods are gone.
func TestWatchEntriesTellWhenJobsBegan(t *testing.T) {
	late := api.JobSummary{ID: "late", Function: "f", Hosts: 1, Status: api.Status{State: api.Running},
		Workload: api.WorkloadFacts{CurrentPod: api.CurrentPod{Pod: "b", MayHaveEarlierPods: true}}}
	p := Registry{Store: storeWith(t, map[string]string{
		"late/attempts/1.json": `{"version":1,"attempt":1,"uid":"a","started":"2026-01-01T00:00:00Z"}`,
		"late/attempts/2.json": `{"version":1,"attempt":2,"uid":"b"}`,
	})}
	late.Store = p.Store.URL()
	over := errors.New("over")
	for name, steps := range map[string][][]api.JobSummary{"at first": {{late}}, "later": {nil, {late}}} {
		t.Run(name, func(t *testing.T) {
			p.Backend = watches(func(_ context.Context, _ api.ListLevel, seen func([]api.JobSummary) error) error {
				for _, step := range steps {
					if err := seen(step); err != nil {
						return err
					}
				}
				return over
			})
			var got time.Time
			err := p.WatchEntries(t.Context(), Filter{}, api.ListStates, func(entries []api.JobSummary) error {
				for _, e := range entries {
					got = e.Status.Started
				}
				return nil
			})
			if want := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); !errors.Is(err, over) || !got.Equal(want) {
				t.Errorf("it began at %v, want %v; error %v", got, want, err)
			}
		})
	}
}

// outage is a store that is away for some time: its reads fail, or hang if no error is given.
type outage struct {
	store.Store
	err  error
	away bool
}

func (o *outage) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if !o.away {
		return o.Store.Open(ctx, name)
	}
	if o.err == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, o.err
}

// A watch, which may run for weeks, asks a store again that did not answer once.
func TestAWatchOutlivesAnOutageOfTheStore(t *testing.T) {
	handles := map[string]string{}
	for _, id := range []string{"a", "b"} {
		handles[id+"/handle.json"] = fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"gke","user":"ann"}`, id)
	}
	in := func(id string, state api.State) []api.JobSummary {
		e := found(id, state, "")
		e.Store = "gs://team"
		return []api.JobSummary{e}
	}
	for name, tt := range map[string]struct {
		filter Filter
		err    error
		want   []string // what is told: id, state and user
	}{
		"it hangs":                       {Filter{}, nil, []string{"a PENDING ", "a RUNNING ann", "b RUNNING ann"}},
		"it fails, and users are needed": {Filter{User: "ann"}, errors.New("no answer"), []string{"a RUNNING ann", "b RUNNING ann"}},
		"it refuses":                     {Filter{User: "ann"}, store.ErrUnusable, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := &outage{Store: storeWith(t, handles), err: tt.err}
			synctest.Test(t, func(t *testing.T) {
				p := Registry{Store: store.None(nil), Kind: api.BackendGKE, OpenStore: func(string) (store.Store, error) { return s, nil }}
				p.Backend = watches(func(_ context.Context, _ api.ListLevel, seen func([]api.JobSummary) error) error {
					if err := seen(nil); err != nil {
						return err
					}
					s.away = true
					if err := seen(in("a", api.Pending)); err != nil {
						return err
					}
					<-time.After(time.Minute)
					s.away = false
					if err := seen(in("a", api.Running)); err != nil {
						return err
					}
					return seen(in("b", api.Running))
				})
				var told []string
				err := p.WatchEntries(t.Context(), tt.filter, api.ListReasons, func(entries []api.JobSummary) error {
					for _, e := range entries {
						told = append(told, e.ID+" "+string(e.State)+" "+e.User)
					}
					return nil
				})
				refused := errors.Is(tt.err, store.ErrUnusable)
				if diff := cmp.Diff(tt.want, told); diff != "" || errors.Is(err, store.ErrUnusable) != refused || err != nil != refused {
					t.Errorf("%v (-want +got)\n%s", err, diff)
				}
			})
		})
	}
}
