package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// prepared is a group whose manifests were applied by hand.
type prepared struct {
	steps
	refusal error
	removed *int
}

func (p prepared) Stop(context.Context, string, time.Duration, func() error) error { return p.refusal }

func (p prepared) RemovePrepared(context.Context, api.Handle) error { *p.removed++; return nil }

// What lets the hosts of a job find each other and end stays as long as they do.
func TestAJobThatCanNotBeStoppedKeepsWhatCameWithIt(t *testing.T) {
	forbidden := errors.New("forbidden")
	ends := map[string]func(*Job) error{
		"Cancel":  func(j *Job) error { _, err := j.Cancel(t.Context(), 0, time.Now(), Cancelled); return err },
		"Cleanup": func(j *Job) error { return j.Cleanup(t.Context(), Parts{Workload: true}, unseen) },
		"Collect": func(j *Job) error {
			return j.Collect(t.Context(), io.Discard, true, func(api.Result) error { return nil })
		},
	}
	for name, end := range ends {
		for want, refusal := range []error{forbidden, nil} {
			t.Run(fmt.Sprintf("%s, %v", name, refusal), func(t *testing.T) {
				removed := 0
				j := &Job{Handle: api.Handle{JobID: "a1"}, Store: storeWith(t, map[string]string{"a1/result.json": value("1")}),
					Workload: prepared{steps{{State: api.Running}}, refusal, &removed}}
				if err := end(j); !errors.Is(err, refusal) || removed != want {
					t.Errorf("%v; removed %d times, want %d", err, removed, want)
				}
			})
		}
	}
}

// unseen is for a removal that nobody watches.
func unseen(int, int) {}

// slowStore is one whose removals come to an end when several have begun.
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
	if err := j.Cleanup(t.Context(), Parts{Stored: true}, func(done, total int) { seen = append(seen, fmt.Sprint(done, "/", total)) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"1/3", "2/3", "3/3"}; !slices.Equal(seen, want) {
		t.Errorf("seen %v, want %v", seen, want)
	}
	if left, err := j.Store.List(t.Context(), j.ID()); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// A cleanup that failed can be repeated.
func TestCleanupThatFailsLeavesTheHandle(t *testing.T) {
	j := aMap(t, 1, map[int]string{0: value("0")})
	put(t, j, store.Handle(j.ID()), "{}")
	j.Store = unremovable{j.Store}
	if err := j.Cleanup(t.Context(), Parts{Stored: true}, unseen); !errors.Is(err, errOutage) {
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

func TestCollected(t *testing.T) {
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
			if got, err := j.Collected(t.Context()); err != nil || got != tt.want {
				t.Errorf("%v, %v; want %v", got, err, tt.want)
			}
		})
	}
}
