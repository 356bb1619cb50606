package submit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/pack"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// ExistsError is a job id that is taken.
type ExistsError struct{ ID, Store string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("job id %s: there is such a job in %s; choose another, or remove it with kubectl kinetic jobs cleanup %s", e.ID, e.Store, e.ID)
}

// StoreError is a store, or an output directory, that can't be written to.
// Nothing was started.
type StoreError struct{ err error }

func (e *StoreError) Error() string { return e.err.Error() }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *StoreError) Unwrap() error { return e.err }

// Do uploads what the store lacks, describes the job there and starts its
// workload, in that order: whatever runs can be found, and a submit that is cut
// off leaves nothing running. progress hears of the bytes of the bundle that
// are stored. An id that is taken is an ExistsError.
func Do(ctx context.Context, p Planned, place job.Place, progress func(done, total int64)) (*job.Job, pack.Stats, error) {
	j := &job.Job{Handle: api.NewHandle(p.Spec), Store: place.Store, Workload: place.Workload}
	adopted, err := vacant(ctx, place, p.Spec)
	if err != nil {
		return nil, pack.Stats{}, err
	}
	if p.Spec.Backend == api.BackendLocal && p.Spec.OutputDir != "" {
		if err := os.MkdirAll(p.Spec.OutputDir, 0o777); err != nil {
			return nil, pack.Stats{}, &StoreError{fmt.Errorf("--output-dir %s: %w", p.Spec.OutputDir, err)}
		}
	}
	stats, err := p.Files.Upload(ctx, place.Store, progress)
	if err != nil {
		return nil, stats, &StoreError{err}
	}
	if err := describe(ctx, j, p.Call, adopted); err != nil {
		return nil, stats, &StoreError{err}
	}
	err = place.Workload.Start(ctx, p.Spec, p.Secrets)
	if errors.Is(err, fs.ErrExist) {
		err = &ExistsError{ID: j.ID(), Store: "this machine"}
	}
	switch {
	case errors.Is(err, api.ErrMayRun):
		return nil, stats, fmt.Errorf("%w; kubectl kinetic jobs cleanup %s removes what there is", err, j.ID())
	case err != nil:
		return nil, stats, errors.Join(err, withdraw(ctx, j))
	}
	return j, stats, nil
}

// vacant makes sure that an id is free before anything is uploaded. The records
// of the same job, whose submit was cut off before anything ran, are taken over:
// that submit is being repeated.
func vacant(ctx context.Context, place job.Place, s api.Spec) (adopted bool, err error) {
	old := place.Exact(ctx, s.ID)
	if old == nil {
		return false, nil // what can't be read is found out when it is written
	}
	if old.Handle.CallSHA256 == s.CallSHA256 && old.Handle.BundleSHA256 == s.BundleSHA256 {
		began, err := old.Began(ctx)
		if err != nil || !began {
			return true, err
		}
	}
	return false, &ExistsError{ID: s.ID, Store: place.Store.URL()}
}

// describe writes the handle, which claims the id, and the call.
func describe(ctx context.Context, j *job.Job, call []byte, adopted bool) error {
	handle, err := json.MarshalIndent(j.Handle, "", "  ")
	if err != nil {
		return err
	}
	err = j.Store.Create(ctx, store.Handle(j.ID()), bytes.NewReader(append(handle, '\n')), nil)
	if errors.Is(err, store.ErrExists) {
		err = &ExistsError{ID: j.ID(), Store: j.Store.URL()}
		if adopted {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	err = j.Store.Create(ctx, store.Call(j.ID()), bytes.NewReader(call), nil)
	if errors.Is(err, store.ErrExists) && adopted {
		return nil // the runner checks its hash
	}
	if err != nil {
		return errors.Join(err, withdraw(ctx, j))
	}
	return nil
}

// withdraw removes what describe wrote, also when ctx is over.
func withdraw(ctx context.Context, j *job.Job) error {
	ctx = context.WithoutCancel(ctx)
	return errors.Join(j.Store.Delete(ctx, store.Call(j.ID())), j.Store.Delete(ctx, store.Handle(j.ID())))
}
