package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/call"
)

// faultyStore is a store that fails where told to.
type faultyStore struct {
	store.Store
	create func(name string) error
	large  func(ctx context.Context) error
	open   func(name string) (io.ReadCloser, error)
	remove func(ctx context.Context, name string) error
}

func (s faultyStore) Create(ctx context.Context, name string, r io.Reader, metadata map[string]string) error {
	if s.create != nil {
		if err := s.create(name); err != nil {
			return err
		}
	}
	return s.Store.Create(ctx, name, r, metadata)
}

func (s faultyStore) PutBlob(ctx context.Context, sha256 string, size int64, open func() (io.ReadCloser, error)) (bool, error) {
	if s.create != nil {
		if err := s.create(store.Blob(sha256)); err != nil {
			return false, err
		}
	}
	return s.Store.PutBlob(ctx, sha256, size, open)
}

func (s faultyStore) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if s.open != nil {
		if r, err := s.open(name); r != nil || err != nil {
			return r, err
		}
	}
	return s.Store.Open(ctx, name)
}

func (s faultyStore) Delete(ctx context.Context, name string) error {
	if s.remove != nil {
		if err := s.remove(ctx, name); err != nil {
			return err
		}
	}
	return s.Store.Delete(ctx, name)
}

func (s faultyStore) DeleteListed(ctx context.Context, o store.Object) (bool, error) {
	if s.remove != nil {
		if err := s.remove(ctx, o.Name); err != nil {
			return false, err
		}
	}
	return s.Store.DeleteListed(ctx, o)
}

var errOutage = errors.New("503")

// refusesCalls is a store that can't write calls.
func refusesCalls(s store.Store) store.Store {
	return faultyStore{Store: s, create: func(name string) error {
		if name == store.Call("a1") {
			return errOutage
		}
		return nil
	}}
}

// unreadableCalls is a store that can't read calls: not at all, or not to the end.
func unreadableCalls(answer io.ReadCloser, err error) func(store.Store) store.Store {
	return func(s store.Store) store.Store {
		return faultyStore{Store: s, open: func(name string) (io.ReadCloser, error) {
			if name == store.Call("a1") {
				return answer, err
			}
			return nil, nil
		}}
	}
}

// A submit that is repeated while the store fails leaves the records of the first
// one, whose workload may be waiting.
func TestARepeatLeavesTheRecordsOfTheFirst(t *testing.T) {
	cut := io.NopCloser(io.MultiReader(strings.NewReader("{"), iotest.ErrReader(errOutage)))
	for name, faulty := range map[string]func(store.Store) store.Store{
		"call not written":   refusesCalls,
		"call not opened":    unreadableCalls(nil, errOutage),
		"call read in parts": unreadableCalls(cut, nil),
	} {
		t.Run(name, func(t *testing.T) {
			p, a := registry(t, workload{start: well, ready: well}), planned(t, "{}")
			if _, err := apply(t.Context(), a, p); err != nil {
				t.Fatal(err)
			}
			failing := p
			failing.Store = faulty(p.Store)
			if _, err := apply(t.Context(), a, failing); !errors.Is(err, errOutage) {
				t.Errorf("got %v", err)
			}
			if handle, call := stored(t, p, store.Handle("a1")), stored(t, p, store.Call("a1")); handle == "" || call != "{}" {
				t.Errorf("left the handle %q and the call %q", handle, call)
			}
		})
	}
}

// A repeated submit is told of its own job as such.
func TestARepeatIsToldOfItsJob(t *testing.T) {
	for name, tt := range map[string]struct {
		call string
		same bool
	}{"the same": {"{}", true}, "another": {`{"changed":1}`, false}} {
		t.Run(name, func(t *testing.T) {
			p := registry(t, workload{start: well, ready: well})
			if _, err := apply(t.Context(), planned(t, "{}"), p); err != nil {
				t.Fatal(err)
			}
			write(t, p, store.Attempts("a1")+"1.json", `{"version":1}`)
			_, err := apply(t.Context(), planned(t, tt.call), p)
			var exists *ExistsError
			if !errors.As(err, &exists) || exists.Same != tt.same {
				t.Errorf("got %v, want it told that it is the same: %v", err, tt.same)
			}
		})
	}
}

// The workload of a job in another namespace or cluster can't be seen: a repeat from here would start a second one.
func TestARepeatFromElsewhere(t *testing.T) {
	for name, tt := range map[string]struct {
		move func(*api.Spec, *job.Registry)
		next string
	}{
		"namespace": {func(s *api.Spec, r *job.Registry) { s.Namespace, r.Namespace = "other", "other" }, "add -n ml"},
		"cluster":   {func(_ *api.Spec, r *job.Registry) { r.Cluster, r.ClusterID = "dev", "2" }, "add --cluster prod"},
	} {
		t.Run(name, func(t *testing.T) {
			p, again := registry(t, workload{start: well, ready: well}), planned(t, "{}")
			p.Namespace, p.Cluster, p.ClusterID = "ml", "prod", "1"
			if _, err := apply(t.Context(), again, p); err != nil {
				t.Fatal(err)
			}
			before := stored(t, p, store.Handle("a1"))
			tt.move(&again.Spec, &p)
			_, err := apply(t.Context(), again, p)
			var exists *ExistsError
			if !errors.As(err, &exists) || exists.Next() != tt.next || !strings.Contains(err.Error(), tt.next) {
				t.Errorf("got %v, want %q", err, tt.next)
			}
			if stored(t, p, store.Handle("a1")) != before {
				t.Error("the handle was replaced")
			}
		})
	}
}

// A call for a new warm host that is submitted again gets another host only if the first one does not exist.
func TestARepeatStartsNoSecondWarmHost(t *testing.T) {
	for state, want := range map[api.State]int{api.Pending: 1, api.Running: 1, api.NotFound: 2} {
		p, hosts := registry(t, workload{}), 0
		p.Backend = warm.Backend{Backend: jobtest.Backend{State: state}, OpenStore: func(string) (store.Store, error) { return p.Store, nil }}
		var err error
		for _, host := range []string{"cpu-warm-1", "cpu-warm-2"} {
			call := planned(t, "{}")
			call.Spec.Host, call.request.JobID = host, call.Spec.ID
			_, err = Apply(t.Context(), call, p, Hooks{Start: func(context.Context, api.Spec, map[string]string) error { hosts++; return nil }}, nil)
		}
		var exists *ExistsError
		if hosts != want || errors.As(err, &exists) != (want == 1) {
			t.Errorf("%s: %d hosts, %v", state, hosts, err)
		}
	}
}

// The records of a submit that was interrupted are removed all the same, and that
// is not waited for without end.
func TestWithdrawIsBounded(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	p := registry(t, workload{start: func() error { interrupt(); return ctx.Err() }, ready: well})
	bounded := 0
	p.Store = faultyStore{Store: p.Store, remove: func(ctx context.Context, _ string) error {
		if _, limit := ctx.Deadline(); limit {
			bounded++
		}
		return ctx.Err()
	}}
	if _, err := apply(ctx, planned(t, "{}"), p); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if handle := stored(t, p, store.Handle("a1")); bounded != 2 || handle != "" {
		t.Errorf("%d removals are bounded, want 2; left %q", bounded, handle)
	}
}

// Another submit may adopt the records while this one withdraws them.
func TestWithdrawLeavesWhatIsAdopted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	p := registry(t, workload{start: func() error { interrupt(); return ctx.Err() }, ready: well})
	kept := p.Store
	p.Store = faultyStore{Store: kept, remove: func(_ context.Context, name string) error {
		if name != store.Call("a1") {
			return nil
		}
		found, err := records.Find(t.Context(), kept, store.Handle("a1"))
		if err != nil {
			return err
		}
		return kept.Replace(t.Context(), found, strings.NewReader("adopted"), nil)
	}}
	if _, err := apply(ctx, planned(t, "{}"), p); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if handle := stored(t, p, store.Handle("a1")); handle != "adopted" {
		t.Errorf("the handle is %q", handle)
	}
}

// Only a store that can't be used is a mistake of the input; one that fails may be
// well again.
func TestStoreErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		object string
		err    error
		want   bool
	}{
		"an upload that is cut":  {"blobs/", errOutage, false},
		"no bucket":              {"blobs/", fmt.Errorf("403: %w", store.ErrUnusable), true},
		"an outage":              {"a1/", errOutage, false},
		"nothing may be written": {"a1/", fmt.Errorf("403: %w", store.ErrUnusable), true},
	} {
		t.Run(name, func(t *testing.T) {
			p := registry(t, workload{start: well, ready: well})
			p.Store = faultyStore{Store: p.Store, create: func(object string) error {
				if strings.HasPrefix(object, tt.object) {
					return tt.err
				}
				return nil
			}}
			_, err := apply(t.Context(), planned(t, "{}"), p)
			var unusable *StoreError
			if !errors.Is(err, tt.err) || errors.As(err, &unusable) != tt.want {
				t.Errorf("got %T %v, want a StoreError: %v", err, err, tt.want)
			}
		})
	}
}

// A submit that can't write its call takes its handle back.
func TestASubmitWithoutItsCallLeavesNoHandle(t *testing.T) {
	p := registry(t, workload{start: well, ready: well})
	failing := p
	failing.Store = refusesCalls(p.Store)
	if _, err := apply(t.Context(), planned(t, "{}"), failing); !errors.Is(err, errOutage) {
		t.Errorf("got %v", err)
	}
	if handle := stored(t, p, store.Handle("a1")); handle != "" {
		t.Errorf("left the handle %q", handle)
	}
}

// resuming is a plan that takes over the values of an older map, and its place.
func resuming(t *testing.T) (Planned, job.Registry) {
	t.Helper()
	at, p := registry(t, workload{start: well, ready: well}), planned(t, "{}")
	p.Spec.Map = &api.Map{Inputs: 2, Chunk: 1, Parallelism: 1}
	p.inputs = inputs{Inputs: call.Inputs{SHA256: sha256Hex(nil)}, open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }}
	p.Spec.Map.InputsSHA256 = p.inputs.SHA256
	p.From, p.Inherits = at.Job(api.Handle{JobID: "old", Map: p.Spec.Map}), []int{0, 1}
	for input := range 2 {
		write(t, at, store.ResultOf("old", input), `{"version":1,"ok":true,"value":1}`)
	}
	return p, at
}

func TestAMapTakesOverTheValuesOfAnOlderOne(t *testing.T) {
	p, at := resuming(t)
	if _, err := apply(t.Context(), p, at); err != nil {
		t.Fatal(err)
	}
	for input := range 2 {
		if stored(t, at, store.ResultOf("a1", input)) == "" {
			t.Errorf("the value of input %d was not taken over", input)
		}
	}
}

// What can't be taken over leaves no job, but that of a submit before this one, whose
// pods may be starting.
func TestRecordsOfAMapThatTakesNothingOver(t *testing.T) {
	for name, repeated := range map[string]bool{"at first": false, "repeated": true} {
		t.Run(name, func(t *testing.T) {
			p, at := resuming(t)
			if repeated {
				first := p
				first.From = nil
				if _, err := apply(t.Context(), first, at); err != nil {
					t.Fatal(err)
				}
			}
			failing := at
			failing.Store = faultyStore{Store: at.Store, create: func(name string) error {
				if strings.HasPrefix(name, store.Results("a1")) {
					return errOutage
				}
				return nil
			}}
			if _, err := apply(t.Context(), p, failing); !errors.Is(err, errOutage) {
				t.Errorf("got %v", err)
			}
			handle, call := stored(t, at, store.Handle("a1")), stored(t, at, store.Call("a1"))
			if (handle != "") != repeated || (call != "") != repeated {
				t.Errorf("left the handle %q and the call %q", handle, call)
			}
		})
	}
}

// Values that can't be removed keep their handle: under a free id, the next map would
// take them for its own.
func TestNoValuesAreLeftUnderAFreeID(t *testing.T) {
	p, at := resuming(t)
	at.Backend = workload{start: func() error { return errors.New("forbidden") }, ready: well}
	failing := at
	failing.Store = faultyStore{Store: at.Store, remove: func(_ context.Context, name string) error {
		if strings.HasPrefix(name, store.Results("a1")) {
			return errOutage
		}
		return nil
	}}
	if _, err := apply(t.Context(), p, failing); !errors.Is(err, errOutage) {
		t.Errorf("got %v", err)
	}
	if stored(t, at, store.ResultOf("a1", 0)) == "" || stored(t, at, store.Handle("a1")) == "" {
		t.Error("the values stay, and nobody knows whose they are")
	}
}
