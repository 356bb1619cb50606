package submit

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// The records of a job that waits are replaced only by a submit that starts it.
func TestARepeatOfAJobThatWaits(t *testing.T) {
	taken := errors.Join(fs.ErrExist, api.ErrMayRun)
	for name, tt := range map[string]struct {
		answer error
		set    bool
		kept   bool
	}{
		"refused":                     {answer: taken, kept: true},
		"removed meanwhile":           {kept: false},
		"with another kind of object": {set: true, kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			answers := []error{nil, tt.answer}
			p := registry(t, workload{Backend: jobtest.Backend{State: api.Pending}, ready: well, start: func() error {
				defer func() { answers = answers[1:] }()
				return answers[0]
			}})
			again := planned(t, "{}")
			if _, err := apply(t.Context(), again, p); err != nil {
				t.Fatal(err)
			}
			before := stored(t, p, store.Handle("a1"))
			again.Spec.Created = time.Unix(1, 0)
			if tt.set {
				again.Spec.Backend = api.BackendLWS
			}
			_, err := apply(t.Context(), again, p)
			if exists := errors.As(err, new(*ExistsError)); exists != tt.kept || (stored(t, p, store.Handle("a1")) == before) != tt.kept {
				t.Errorf("got %v, left %s", err, stored(t, p, store.Handle("a1")))
			}
		})
	}
}

// removedMeanwhile is a workload that waits at the first look, and is gone at the next.
type removedMeanwhile struct {
	jobtest.Backend
	looks  *int
	remove func()
}

func (b removedMeanwhile) Status(context.Context, api.Handle) (api.WorkloadStatus, error) {
	if *b.looks++; *b.looks == 1 {
		return api.WorkloadStatus{Status: api.Status{State: api.Pending}}, nil
	}
	b.remove()
	return api.WorkloadStatus{Status: api.Status{State: api.NotFound}}, nil
}

// A waiting job that is removed while its submit is repeated gets its records before it starts.
func TestARepeatOfAJobThatIsRemovedMeanwhile(t *testing.T) {
	for name, names := range map[string][]string{"only its workload": nil, "with its records": {store.Call("a1"), store.Handle("a1")}} {
		t.Run(name, func(t *testing.T) {
			p := registry(t, workload{start: well, ready: well})
			again := planned(t, "{}")
			if _, err := apply(t.Context(), again, p); err != nil {
				t.Fatal(err)
			}
			before := stored(t, p, store.Handle("a1"))
			again.Spec.Created = time.Unix(1, 0)
			p.Backend = removedMeanwhile{looks: new(int), remove: func() {
				for _, name := range names {
					if err := p.Store.Delete(t.Context(), name); err != nil {
						t.Error(err)
					}
				}
			}}
			starts := 0
			_, err := Apply(t.Context(), again, p, Hooks{Start: func(context.Context, api.Spec, map[string]string) error {
				starts++
				if handle, call := stored(t, p, store.Handle("a1")), stored(t, p, store.Call("a1")); handle == before || handle == "" || call != "{}" {
					t.Errorf("starts with the handle %q and the call %q", handle, call)
				}
				return nil
			}}, nil)
			if err != nil || starts != 1 {
				t.Errorf("%d starts, %v", starts, err)
			}
		})
	}
}

// A repeat that starts a job, but can't store its records, reports that the job may run.
func TestARepeatThatStartsWithoutRecords(t *testing.T) {
	p := registry(t, workload{Backend: jobtest.Backend{State: api.Pending}, start: well, ready: well})
	if _, err := apply(t.Context(), planned(t, "{}"), p); err != nil {
		t.Fatal(err)
	}
	p.Store = refusesCalls(p.Store)
	_, err := apply(t.Context(), planned(t, "{}"), p)
	if !errors.As(err, new(*MayRunError)) || !errors.Is(err, errOutage) || !errors.Is(err, api.ErrMayRun) {
		t.Errorf("got %v", err)
	}
}
