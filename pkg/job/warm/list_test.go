package warm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// hostOf returns a warm host in a list, whose calls are in a store.
func hostOf(s store.Store, state api.State) api.JobSummary {
	return api.JobSummary{ID: hostID, Store: s.URL(), State: state, Status: api.Status{State: state},
		Workload: api.WorkloadFacts{Labels: map[string]string{api.LabelWarm: "key"}}}
}

// told returns the jobs of a list with their states.
func told(found []api.JobSummary) string {
	var all []string
	for _, e := range found {
		all = append(all, e.ID+" "+string(e.State))
	}
	return strings.Join(all, ", ")
}

// A host whose store can't be read hides its calls only, unless that is the usual store: jobs that are only there would pass for gone.
func TestListWithoutAStore(t *testing.T) {
	refused := fmt.Errorf("403: %w", store.ErrUnusable)
	for name, tt := range map[string]struct {
		usual  bool
		warned int
		want   error
	}{"another store": {false, 1, nil}, "the usual store": {true, 0, refused}} {
		b, s, _ := backend(t, jobtest.Backend{})
		b.Backend = jobtest.Backend{Jobs: []api.JobSummary{{ID: "cpu-other-1"}, hostOf(s, api.Running)}}
		b.OpenStore = func(string) (store.Store, error) { return nil, refused }
		if tt.usual {
			b.Usual = s.URL()
		}
		warned := 0
		b.Warn = func(string) { warned++ }
		found, err := b.List(t.Context(), api.ListStates)
		if got := told(found); !errors.Is(err, tt.want) || got != "cpu-other-1 " || warned != tt.warned {
			t.Errorf("%s: got %q, %v, and %d warnings", name, got, err, warned)
		}
	}
}

// A list that is watched keeps the calls of a host while its store can't be read, unless the usual store refuses, or has never been read.
func TestWatchListWithoutAStore(t *testing.T) {
	lost, refused := errors.New("no route to host"), fmt.Errorf("403: %w", store.ErrUnusable)
	const all, second = "cpu-other-1 , cpu-train-1 RUNNING", "cpu-train-2 RUNNING"
	for name, tt := range map[string]struct {
		usual      bool
		err        error
		from, till time.Duration
		want       []string
		warned     int
		end        error
	}{
		"another store is away":           {false, lost, time.Minute, time.Hour, []string{all, second}, 1, nil},
		"another store is away at first":  {false, lost, 0, time.Hour, []string{"cpu-other-1 ", "cpu-train-1 RUNNING, " + second}, 1, nil},
		"another store refuses":           {false, refused, time.Minute, time.Hour, []string{all, second}, 1, nil},
		"the usual store is away":         {true, lost, time.Minute, time.Hour, []string{all, second}, 1, nil},
		"the usual store refuses":         {true, refused, time.Minute, time.Hour, []string{all}, 0, refused},
		"the usual store has never begun": {true, lost, 0, time.Hour, nil, 0, lost},
	} {
		t.Run(name, func(t *testing.T) {
			b, s, h := backend(t, jobtest.Backend{})
			b.Backend = unchanging{jobtest.Backend{Jobs: []api.JobSummary{{ID: "cpu-other-1"}, hostOf(s, api.Running)}}}
			if tt.usual {
				b.Usual = s.URL()
			}
			warned := 0
			b.Warn = func(string) { warned++ }
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				b.OpenStore = func(string) (store.Store, error) {
					if at := time.Since(begin); at >= tt.from && at < tt.till {
						return nil, tt.err
					}
					return s, nil
				}
				time.AfterFunc(30*time.Minute, func() {
					put(t, s, store.WarmCall(hostID, "cpu-train-2"), struct{}{})
					h.JobID = "cpu-train-2"
					put(t, s, store.Handle(h.JobID), h)
					put(t, s, store.Attempts(h.JobID)+"1.json", struct{}{})
				})
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
				defer cancel()
				var got []string
				err := b.WatchList(ctx, api.ListStates, func(found []api.JobSummary) error {
					got = append(got, told(found))
					return nil
				})
				if tt.end == nil {
					tt.end = context.DeadlineExceeded
				}
				if strings.Join(got, "; ") != strings.Join(tt.want, "; ") || !errors.Is(err, tt.end) || warned != tt.warned {
					t.Errorf("got %q, %v, and %d warnings", got, err, warned)
				}
			})
		})
	}
}

// slow is a store in which each object takes a second.
type slow struct{ store.Store }

func (s slow) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	<-time.After(time.Second)
	return s.Store.Open(ctx, name)
}

// The calls of a host are read several at a time.
func TestListOfManyCalls(t *testing.T) {
	b, s, h := backend(t, jobtest.Backend{})
	b.Backend = jobtest.Backend{Jobs: []api.JobSummary{hostOf(s, api.Running)}}
	b.OpenStore = func(string) (store.Store, error) { return slow{s}, nil }
	want := []string{"cpu-train-1 RUNNING"}
	for i := range 40 {
		h.JobID = fmt.Sprintf("cpu-train-1%02d", i)
		put(t, s, store.WarmCall(hostID, h.JobID), struct{}{})
		put(t, s, store.Handle(h.JobID), h)
		want = append(want, h.JobID+" PENDING")
	}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		found, err := b.List(t.Context(), api.ListStates)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(found, func(x, y api.JobSummary) int { return strings.Compare(x.ID, y.ID) })
		if diff := cmp.Diff(strings.Join(want, ", "), told(found)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// changing is a backend with one job, which changes every minute.
type changing struct {
	jobtest.Backend
	jobs []api.JobSummary
}

func (b changing) WatchList(ctx context.Context, _ api.ListLevel, seen func([]api.JobSummary) error) error {
	for _, e := range b.jobs {
		if err := seen([]api.JobSummary{e}); err != nil {
			return err
		}
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("enough")
}

// A list that is watched tells why the call of a new host waits, and in which pod it runs, each once.
func TestWatchListOfAStart(t *testing.T) {
	b, s, _ := backend(t, jobtest.Backend{})
	pending, running := hostOf(s, api.Pending), hostOf(s, api.Running)
	pulls, moved := pending, running
	pulls.Status.Message = "pulling the image"
	running.Workload.Hosts, moved.Workload.Hosts = []api.Host{{Pod: "warm-a"}}, []api.Host{{Pod: "warm-b"}}
	b.Backend = changing{jobs: []api.JobSummary{pending, pulls, running, moved}}
	synctest.Test(t, func(t *testing.T) {
		var got []string
		err := b.WatchList(t.Context(), api.ListStates, func(found []api.JobSummary) error {
			for _, e := range found {
				text := string(e.State) + e.Status.Message
				for _, at := range e.Workload.Hosts {
					text += at.Pod
				}
				got = append(got, text)
			}
			return nil
		})
		if diff := cmp.Diff([]string{"PENDING", "PENDINGpulling the image", "RUNNINGwarm-a", "RUNNINGwarm-b"}, got); diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	})
}
