package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// unseen ignores the progress of a removal.
func unseen(int, int) {}

// slowStore is a store whose removals only end once several have begun.
type slowStore struct {
	store.Store
	begun *sync.WaitGroup
}

func (s slowStore) Delete(ctx context.Context, name string) error {
	if strings.Contains(name, "/results/") {
		s.begun.Done()
		s.begun.Wait()
	}
	return s.Store.Delete(ctx, name)
}

// The ten thousand results of a map are not removed one after the other.
func TestCleanupRemovesSeveralObjectsAtATime(t *testing.T) {
	j := aMap(t, 3, map[int]string{0: value("0"), 1: value("1"), 2: value("2")})
	put(t, j, store.Handle(j.ID()), "{}")
	begun := &sync.WaitGroup{}
	begun.Add(3)
	j.Store = slowStore{j.Store, begun}
	var seen []string
	if _, err := j.Cleanup(t.Context(), CleanupOptions{Stored: true}, true, func(done, total int) { seen = append(seen, fmt.Sprint(done, "/", total)) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"1/3", "2/3", "3/3"}; !slices.Equal(seen, want) {
		t.Errorf("seen %v, want %v", seen, want)
	}
	for left, err := range j.Store.List(t.Context(), j.ID(), "") {
		t.Errorf("left %v, %v", left, err)
	}
}

// A cleanup that failed can be repeated.
func TestCleanupThatFailsLeavesTheHandle(t *testing.T) {
	j := aMap(t, 1, map[int]string{0: value("0")})
	put(t, j, store.Handle(j.ID()), "{}")
	j.Store = unremovable{j.Store}
	if _, err := j.Cleanup(t.Context(), CleanupOptions{Stored: true}, true, unseen); !errors.Is(err, errOutage) {
		t.Errorf("got %v", err)
	}
	if _, err := j.Store.Open(t.Context(), store.Handle(j.ID())); err != nil {
		t.Error(err)
	}
}

var errOutage = errors.New("503")

// unremovable is a store whose results stay.
type unremovable struct{ store.Store }

func (s unremovable) Delete(ctx context.Context, name string) error {
	if strings.Contains(name, "/results/") {
		return errOutage
	}
	return s.Store.Delete(ctx, name)
}

// removed is a cluster that counts what it removes.
type removed struct {
	steps
	stopped *int
}

func (r removed) Delete(context.Context, api.Handle, api.DeleteOptions) error {
	*r.stopped++
	return nil
}

// Collecting removes the workload, once. The rest stays until it is cleaned up, or until
// its removal is requested.
func TestRetire(t *testing.T) {
	tests := map[string]struct {
		ofMap   *api.Map
		kind    api.CallKind
		results map[string]string
		deleted []string // what is left then
	}{
		"a call":        {nil, "", map[string]string{"result.json": value("1")}, []string{"collected.json", "end.json", "handle.json"}},
		"with a pickle": {nil, "", map[string]string{"result.json": `{"ok":true,"pickle":"result.pkl"}`, "result.pkl": "x"}, []string{"collected.json", "end.json", "handle.json", "result.json", "result.pkl"}},
		"a map":         {&api.Map{Inputs: 2, Chunk: 1}, "", map[string]string{"results/0.json": value("1"), "results/1.json": value("2")}, []string{"collected.json", "end.json", "handle.json"}},
		"a pickled call": {nil, api.CallPickle, map[string]string{"payload.pkl": "x", "result.json": `{"ok":true,"pickle":"result-2.pkl"}`, "result-2.pkl": "x"},
			[]string{"collected.json", "end.json", "handle.json"}},
		"without a value": {nil, "", nil, []string{"collected.json", "end.json", "handle.json"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			stopped := 0
			j := &Job{Handle: api.Handle{JobID: "a1", Map: tt.ofMap, CallKind: tt.kind}, Store: storeWith(t, nil), Backend: removed{steps{{State: api.NotFound}}, &stopped}}
			want := []string{"call.json", "collected.json", "end.json", "handle.json"}
			for name, text := range map[string]string{"handle.json": ourHandle, "call.json": "{}", "end.json": succeededEnd} {
				put(t, j, "a1/"+name, text)
			}
			for name, text := range tt.results {
				put(t, j, "a1/"+name, text)
				want = append(want, name)
			}
			if status, err := j.Status(t.Context()); err != nil || status.Ended != "SUCCEEDED" || status.Collected {
				t.Errorf("before: %+v, %v", status, err)
			}
			for range 2 {
				if err := j.Retire(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			slices.Sort(want)
			if got := namesOf(t, j); stopped != 1 || !slices.Equal(got, want) {
				t.Errorf("removed %d times, left %v, want %v", stopped, got, want)
			}
			status, err := j.Status(t.Context())
			if err != nil || status.State != api.NotFound || status.Ended != "SUCCEEDED" || !status.Collected || status.Reason != api.Completed {
				t.Errorf("after: %+v, %v", status, err)
			}
			d, err := j.Describe(t.Context())
			if last := d.Timeline[len(d.Timeline)-1]; err != nil || last != (Event{thereNow, "collected"}) {
				t.Errorf("the last that is told: %v, %v", last, err)
			}
			if err := j.DeleteResult(t.Context(), unseen); err != nil {
				t.Fatal(err)
			}
			if got := namesOf(t, j); !slices.Equal(got, tt.deleted) {
				t.Errorf("left %v, want %v", got, tt.deleted)
			}
		})
	}
}

// namesOf lists what the store has of a job.
func namesOf(t *testing.T, j *Job) []string {
	t.Helper()
	var names []string
	for o, err := range j.Store.List(t.Context(), j.ID()+"/", "") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimPrefix(o.Name, j.ID()+"/"))
	}
	return names
}

// Status, Cancel and Entries agree about a job whose workload is gone, whoever removed it.
func TestStatusOfAJobThatIsGone(t *testing.T) {
	for end, want := range map[string]string{
		cancelledEnd: "NOT_FOUND CANCELLED cancelled", runnerEnd: "NOT_FOUND FAILED failed: the runner's word", succeededEnd: "NOT_FOUND SUCCEEDED succeeded", "": "NOT_FOUND  not found",
	} {
		j := &Job{Handle: api.Handle{JobID: "a1"}, Store: storeWith(t, map[string]string{"a1/handle.json": ourHandle}), Backend: steps{{State: api.NotFound}}}
		if end != "" {
			put(t, j, store.End("a1"), end)
		}
		s, err := j.Status(t.Context())
		if got := fmt.Sprint(s.State, " ", s.Ended, " ", s.Outcome()); err != nil || got != want || s.Collected {
			t.Errorf("status %s, %v; want %s", got, err, want)
		}
		if s, err := j.CancelAfter(t.Context(), func() { t.Error("it has ended") }, 0, time.Now(), api.CancelledMessage); err != nil || !strings.HasSuffix(want, " "+s.Outcome()) {
			t.Errorf("cancelled again: %+v, %v; want %s", s, err, want)
		}
		p := Registry{Store: j.Store, Backend: j.Backend}
		entries, err := p.Entries(t.Context(), Filter{Stored: true}, api.ListStates)
		if err != nil || len(entries) != 1 || fmt.Sprint(entries[0].State, " ", entries[0].Status.Ended, " ", entries[0].Status.Outcome()) != want {
			t.Errorf("listed as %+v, %v; want %s", entries, err, want)
		}
	}
}

func TestValuesDeleted(t *testing.T) {
	tests := map[string]struct {
		end     string
		results map[int]string
		want    bool
	}{
		"its values were removed":    {`{"version":1,"state":"SUCCEEDED"}`, nil, true},
		"its values are there":       {`{"version":1,"state":"SUCCEEDED"}`, map[int]string{0: value("1")}, false},
		"it failed before any value": {`{"version":1,"state":"FAILED"}`, nil, false},
		"nobody knows how it ended":  {"", nil, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := aMap(t, 1, tt.results)
			if tt.end != "" {
				put(t, j, store.End(j.ID()), tt.end)
			}
			if got, err := j.ValuesDeleted(t.Context()); err != nil || got != tt.want {
				t.Errorf("%v, %v; want %v", got, err, tt.want)
			}
		})
	}
}
