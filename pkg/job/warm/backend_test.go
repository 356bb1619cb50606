package warm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

const hostID = "cpu-warm-20260101-000000-abcdef0"

// backend returns a backend whose only host can't be dialled, and a call that has begun there.
func backend(t *testing.T, cluster jobtest.Backend) (warm.Backend, store.Store, api.Handle) {
	t.Helper()
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := warm.Backend{Backend: cluster, Warn: func(text string) { t.Error(text) },
		OpenStore: func(string) (store.Store, error) { return s, nil },
		Dial:      func(context.Context, api.Handle, int) (*warm.Conn, error) { return nil, warm.ErrNoHost }}
	h := api.Handle{Version: 1, JobID: "cpu-train-1", Host: hostID, Store: s.URL(), FuncName: "train", CreatedAt: time.Unix(1e9, 0).UTC()}
	put(t, s, store.WarmCall(hostID, h.JobID), struct{}{})
	put(t, s, store.Handle(h.JobID), h)
	put(t, s, store.Attempts(h.JobID)+"1.json", struct{}{})
	return b, s, h
}

func put(t *testing.T, s store.Store, name string, document any) {
	t.Helper()
	data, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), name, strings.NewReader(string(data)), nil); err != nil {
		t.Fatal(err)
	}
}

// A call stands as the store says once it has ended, and as its host until then.
func TestStatus(t *testing.T) {
	ended := api.End{Version: api.EndVersion, State: api.Succeeded, Reason: api.Completed, By: "runner"}
	cancelled := api.End{Version: api.EndVersion, State: api.Failed, Reason: api.Cancelled, By: "cancel"}
	for name, tt := range map[string]struct {
		host      api.State
		end       *api.End
		collected bool
		waits     bool // it has not begun
		want      api.State
		reason    api.Reason
	}{
		"the host waits":           {host: api.Pending, want: api.Pending},
		"it runs":                  {host: api.Running, want: api.Running},
		"it was not given to it":   {host: api.Running, waits: true, want: api.Pending},
		"its host was never made":  {host: api.NotFound, waits: true, want: api.NotFound},
		"it has ended":             {host: api.Running, end: &ended, want: api.Succeeded, reason: api.Completed},
		"its host has ended later": {host: api.NotFound, end: &ended, want: api.Succeeded, reason: api.Completed},
		"it was collected":         {host: api.Running, end: &ended, collected: true, want: api.NotFound},
		"it was cancelled":         {host: api.Running, end: &cancelled, want: api.NotFound},
		"its host is gone":         {host: api.NotFound, want: api.Failed, reason: api.Disrupted},
		"its host has failed":      {host: api.Failed, want: api.Failed, reason: api.Disrupted},
	} {
		t.Run(name, func(t *testing.T) {
			b, s, h := backend(t, jobtest.Backend{State: tt.host})
			if tt.waits {
				if err := s.Delete(t.Context(), store.Attempts(h.JobID)+"1.json"); err != nil {
					t.Fatal(err)
				}
			}
			if tt.end != nil {
				if err := records.CreateEnd(t.Context(), s, h.JobID, *tt.end); err != nil {
					t.Fatal(err)
				}
			}
			if tt.collected {
				put(t, s, store.Collected(h.JobID), api.Collected{Version: api.EndVersion})
			}
			got, err := b.Status(t.Context(), h)
			if err != nil || got.State != tt.want || got.Reason != tt.reason {
				t.Errorf("got %s %s, %v", got.State, got.Reason, err)
			}
		})
	}
}

// A list has the calls of a host, as long as they are not cleaned up, and never the host. The one that runs has the host's pod.
func TestList(t *testing.T) {
	host := api.JobSummary{ID: hostID, State: api.Running, Status: api.Status{State: api.Running},
		Workload: api.WorkloadFacts{Labels: map[string]string{api.LabelWarm: "key"}, Hosts: []api.Host{{Pod: "warm-a"}}}}
	b, s, h := backend(t, jobtest.Backend{State: api.Running, Jobs: []api.JobSummary{{ID: "cpu-other-1"}, host}})
	b.Backend = withStore{b.Backend.(jobtest.Backend), s.URL()}
	put(t, s, store.WarmCall(hostID, "cpu-gone-1"), struct{}{})
	moved := h
	moved.JobID, moved.Host = "cpu-moved-1", "cpu-warm-20260101-000000-abcdef1" // where it was submitted again
	put(t, s, store.WarmCall(hostID, moved.JobID), struct{}{})
	put(t, s, store.Handle(moved.JobID), moved)
	ids := func() (ids []string) {
		jobs, err := b.List(t.Context(), api.ListStates)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range jobs {
			id := e.ID + " " + string(e.State)
			for _, at := range e.Workload.Hosts {
				id += " in " + at.Pod + " of " + e.Workload.WarmHost.JobID
			}
			ids = append(ids, id)
		}
		return ids
	}
	if got, want := ids(), []string{"cpu-other-1 ", "cpu-train-1 RUNNING in warm-a of " + hostID}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := records.CreateEnd(t.Context(), s, h.JobID, api.End{Version: api.EndVersion, State: api.Failed, Reason: api.Exception}); err != nil {
		t.Fatal(err)
	}
	if got, want := ids(), []string{"cpu-other-1 ", "cpu-train-1 FAILED"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := b.Delete(t.Context(), h, api.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, want := ids(), []string{"cpu-other-1 "}; !slices.Equal(got, want) {
		t.Errorf("after it was deleted: got %q, want %q", got, want)
	}
}

// withStore is a backend whose jobs name their store.
type withStore struct {
	jobtest.Backend
	url string
}

func (b withStore) List(ctx context.Context, level api.ListLevel) ([]api.JobSummary, error) {
	jobs, err := b.Backend.List(ctx, level)
	jobs = slices.Clone(jobs)
	for i := range jobs {
		jobs[i].Store = b.url
	}
	return jobs, err
}

// A list that is watched sees calls begin and end, of which no object of the cluster tells.
func TestWatchList(t *testing.T) {
	b, s, h := backend(t, jobtest.Backend{})
	host := api.JobSummary{ID: hostID, Store: s.URL(), State: api.Running, Status: api.Status{State: api.Running}, Workload: api.WorkloadFacts{Labels: map[string]string{api.LabelWarm: "key"}}}
	b.Backend = unchanging{jobtest.Backend{Jobs: []api.JobSummary{{ID: "cpu-other-1"}, host}}}
	second := h
	second.JobID = "cpu-train-2"
	steps := []struct {
		want string
		next func()
	}{
		{"cpu-other-1 , cpu-train-1 RUNNING", func() {
			put(t, s, store.WarmCall(hostID, second.JobID), struct{}{})
			put(t, s, store.Handle(second.JobID), second)
			put(t, s, store.Attempts(second.JobID)+"1.json", struct{}{})
		}},
		{"cpu-train-2 RUNNING", func() {
			if err := records.CreateEnd(t.Context(), s, h.JobID, api.End{Version: api.EndVersion, State: api.Succeeded, Reason: api.Completed}); err != nil {
				t.Error(err)
			}
		}},
		{"cpu-train-1 SUCCEEDED", func() {
			if err := s.Delete(t.Context(), store.WarmCall(hostID, h.JobID)); err != nil {
				t.Error(err)
			}
		}},
		{"cpu-train-1 NOT_FOUND", func() {}},
	}
	synctest.Test(t, func(t *testing.T) {
		enough := errors.New("enough")
		step := 0
		err := b.WatchList(t.Context(), api.ListStates, func(found []api.JobSummary) error {
			var told []string
			for _, e := range found {
				told = append(told, e.ID+" "+string(e.State))
			}
			if got := strings.Join(told, ", "); got != steps[step].want {
				t.Errorf("step %d: got %s, want %s", step, got, steps[step].want)
				return enough
			}
			steps[step].next()
			if step++; step == len(steps) {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) {
			t.Error(err)
		}
	})
}

// unchanging is a backend whose jobs never change.
type unchanging struct{ jobtest.Backend }

func (b unchanging) WatchList(ctx context.Context, _ api.ListLevel, seen func([]api.JobSummary) error) error {
	if err := seen(b.Jobs); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// A call that is cancelled before its host has a pod must not run later.
func TestDeleteBeforeTheHostStarts(t *testing.T) {
	for name, tt := range map[string]struct {
		host    api.State
		deleted string
	}{"it waits": {api.Pending, hostID}, "it is gone": {api.NotFound, ""}} {
		t.Run(name, func(t *testing.T) {
			deleted, told := "", false
			b, _, h := backend(t, jobtest.Backend{State: tt.host, Deleted: func(h api.Handle) error { deleted = h.JobID; return nil }})
			err := b.Delete(t.Context(), h, api.DeleteOptions{Ending: func() error { told = true; return nil }})
			if err != nil || deleted != tt.deleted || tt.deleted == "" && !told {
				t.Errorf("deleted %q, told %v: %v", deleted, told, err)
			}
		})
	}
}

// Without the host's key, the error says where the call can be cancelled, and how its host can be ended.
func TestDeleteWithoutTheKey(t *testing.T) {
	b, _, h := backend(t, jobtest.Backend{State: api.Running})
	b.Dial = func(context.Context, api.Handle, int) (*warm.Conn, error) {
		return nil, fmt.Errorf("%w: it is in a Secret", warm.ErrNoKey)
	}
	err := b.Delete(t.Context(), h, api.DeleteOptions{})
	var explained interface {
		Kind() api.ErrorKind
		Next() string
	}
	next := "kubectl kinetic jobs warm --end " + hostID + " -n " + h.Namespace
	if want := "it is in a Secret. Cancel the job on the machine that started the host, or end the host with its call: " + next; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want …%s", err, want)
	}
	if !errors.As(err, &explained) || explained.Kind() != api.KindForbidden || explained.Next() != next {
		t.Errorf("got %#v", err)
	}
}

// Who follows a call whose host can't be reached sees what the store gets meanwhile.
func TestLogFromTheStore(t *testing.T) {
	b, s, h := backend(t, jobtest.Backend{State: api.Running})
	var warned []string
	b.Warn = func(text string) { warned = append(warned, text) }
	b.Dial = func(context.Context, api.Handle, int) (*warm.Conn, error) { return nil, warm.ErrNoKey }
	part := func(number int, text string) {
		if err := s.Create(t.Context(), store.LogPart(h.JobID, 0, 1, number), strings.NewReader(text), nil); err != nil {
			t.Error(err)
		}
	}
	part(1, "one\ntwo\n")
	for name, tt := range map[string]struct {
		tail int
		want []string
	}{"all lines": {-1, []string{"one\ntwo\n", "three\n"}}, "the last line": {1, []string{"two\n", "three\n"}}, "new lines": {0, []string{"three\n"}}} {
		synctest.Test(t, func(t *testing.T) {
			warned = nil
			var shown []string
			time.AfterFunc(time.Minute, func() { part(2, "three\n") })
			out := writerFunc(func(p []byte) (int, error) {
				if shown = append(shown, string(p)); len(shown) == len(tt.want) {
					if err := records.CreateEnd(t.Context(), s, h.JobID, api.End{Version: api.EndVersion, State: api.Succeeded, Reason: api.Completed}); err != nil {
						t.Error(err)
					}
				}
				return len(p), nil
			})
			o := logs.Options{Follow: true, Tail: tt.tail, Host: -1}
			if err := b.Logs(t.Context(), h, &logs.Archive{Store: s, JobID: h.JobID}, o, display.Both(out)); err != nil || !slices.Equal(shown, tt.want) {
				t.Errorf("%s: got %q, %v; want %q", name, shown, err, tt.want)
			}
			if len(warned) != 1 {
				t.Errorf("%s: warned %q", name, warned)
			}
		})
		for _, name := range []string{store.LogPart(h.JobID, 0, 1, 2), store.End(h.JobID)} {
			if err := s.Delete(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Who stops watching a call is told no other status than the last one that was read.
func TestWatchThatStops(t *testing.T) {
	b, s, h := backend(t, jobtest.Backend{State: api.Pending})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.OpenStore = func(string) (store.Store, error) { return s, ctx.Err() } // as a bucket, which notices that nobody waits
	var seen []api.State
	got, err := b.Watch(ctx, h, func(now api.WorkloadStatus) {
		seen = append(seen, now.State)
		cancel()
	})
	if !errors.Is(err, context.Canceled) || got.State != api.Pending || !slices.Equal(seen, []api.State{api.Pending}) {
		t.Errorf("got %s after %q, %v", got.State, seen, err)
	}
}

// While it is watched, a call ends when the store says so.
func TestWatch(t *testing.T) {
	b, s, h := backend(t, jobtest.Backend{State: api.Running})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []api.State
	got, err := b.Watch(ctx, h, func(now api.WorkloadStatus) {
		if seen = append(seen, now.State); now.State == api.Running {
			if err := records.CreateEnd(ctx, s, h.JobID, api.End{Version: api.EndVersion, State: api.Succeeded, Reason: api.Completed}); err != nil && !errors.Is(err, store.ErrExists) {
				t.Error(err)
			}
		}
	})
	if err != nil || got.State != api.Succeeded || !slices.Equal(seen, []api.State{api.Running, api.Succeeded}) {
		t.Errorf("got %s after %v, %v", got.State, seen, err)
	}
}

// away is a store that fails for some time, or for good.
type away struct {
	store.Store
	err   error
	until time.Time
}

func (a away) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if time.Now().Before(a.until) {
		return nil, a.err
	}
	return a.Store.Open(ctx, name)
}

// A watch survives an outage of the store that is no longer than one of an API server may be.
func TestWatchWithoutTheStore(t *testing.T) {
	lost, refused := errors.New("no route to host"), fmt.Errorf("403: %w", store.ErrUnusable)
	for name, tt := range map[string]struct {
		err    error
		lasts  time.Duration
		warned int
		want   error
	}{
		"for a while":     {lost, 20 * time.Minute, 1, nil},
		"for hours":       {lost, 20 * time.Hour, 1, lost},
		"which refuses":   {refused, 20 * time.Minute, 0, store.ErrUnusable},
		"it never failed": {lost, 0, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b, s, h := backend(t, jobtest.Backend{State: api.Running})
			if err := records.CreateEnd(t.Context(), s, h.JobID, api.End{Version: api.EndVersion, State: api.Succeeded, Reason: api.Completed}); err != nil {
				t.Fatal(err)
			}
			warned := 0
			b.Warn = func(string) { warned++ }
			synctest.Test(t, func(t *testing.T) {
				lasting := away{s, tt.err, time.Now().Add(tt.lasts)}
				b.OpenStore = func(string) (store.Store, error) { return lasting, nil }
				got, err := b.Watch(t.Context(), h, func(api.WorkloadStatus) {})
				if !errors.Is(err, tt.want) || err == nil && got.State != api.Succeeded || warned != tt.warned {
					t.Errorf("got %s, %v, and %d warnings; want %v, %d", got.State, err, warned, tt.want, tt.warned)
				}
			})
		})
	}
}
