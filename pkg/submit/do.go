package submit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/pack"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// ExistsError is a job id that is taken.
type ExistsError struct {
	ID string
	// Where the other job is: a store, a namespace, this machine.
	Where string
	// Flags find it from a command line.
	Flags string
	// Same says that it is no other job: it runs the same call on the same code.
	Same bool
}

func (e *ExistsError) Error() string {
	if e.Same {
		return fmt.Sprintf("job id %s: this very job is in %s already; follow it with kubectl kinetic jobs logs -f %s%s, or choose another id to run it once more", e.ID, e.Where, e.ID, e.Flags)
	}
	return fmt.Sprintf("job id %s: there is such a job in %s; choose another, or remove it with kubectl kinetic jobs cleanup %s%s", e.ID, e.Where, e.ID, e.Flags)
}

// MayRunError is a start that failed in such a way that the job may run all the
// same. It is api.ErrMayRun.
type MayRunError struct {
	id, flags string
	err       error
}

func (e *MayRunError) Error() string { return fmt.Sprintf("%v; %s", e.err, e.Advice()) }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *MayRunError) Unwrap() error { return e.err }

// Advice says what there may be, and what can be done with it.
func (e *MayRunError) Advice() string {
	return fmt.Sprintf("job %s may run all the same: kubectl kinetic jobs logs -f %s%s follows it, kubectl kinetic jobs cleanup %s%s removes what there is",
		e.id, e.id, e.flags, e.id, e.flags)
}

// StoreError is a store, or an output directory, that is not there or not for this
// account. Nothing was started. Failures that may pass are no StoreError.
type StoreError struct{ err error }

func (e *StoreError) Error() string { return e.err.Error() }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *StoreError) Unwrap() error { return e.err }

// storeError makes a StoreError of a failure that no repetition mends.
func storeError(err error) error {
	if errors.Is(err, store.ErrUnusable) {
		return &StoreError{err}
	}
	return err
}

// cluster is what the workloads of a cluster do besides.
type cluster interface {
	// Ready makes what the job will share with others, before anything of its own.
	Ready(ctx context.Context) error
	// Prepare makes what the job's manifests don't hold, for somebody else to
	// apply them.
	Prepare(ctx context.Context, spec api.Spec, secrets map[string]string) error
}

// Do uploads what the store lacks, describes the job there and starts its
// workload, in that order: whatever runs can be found, and a submit that is cut
// off leaves nothing running. progress hears of the bytes of the bundle that
// are stored. An id that is taken is an ExistsError.
func Do(ctx context.Context, p Planned, place job.Place, progress func(done, total int64)) (*job.Job, pack.Stats, error) {
	ready := func(context.Context) error { return nil }
	if c, ok := place.Workload.(cluster); ok {
		ready = c.Ready
	}
	return carryOut(ctx, p, place, progress, ready, place.Workload.Start)
}

// Prepare is Do for a workload that somebody else will apply. Local jobs have
// nothing to prepare.
func Prepare(ctx context.Context, p Planned, place job.Place, progress func(done, total int64)) (*job.Job, pack.Stats, error) {
	c, ok := place.Workload.(cluster)
	if !ok {
		return nil, pack.Stats{}, errors.New("a local job has no manifests that could be prepared")
	}
	return carryOut(ctx, p, place, progress, func(context.Context) error { return nil }, c.Prepare)
}

// carryOut stores what the job needs, and starts it when that is there.
func carryOut(ctx context.Context, p Planned, place job.Place, progress func(done, total int64),
	ready func(context.Context) error, start func(context.Context, api.Spec, map[string]string) error,
) (*job.Job, pack.Stats, error) {
	j := place.Job(api.NewHandle(p.Spec))
	if p.Spec.Backend == api.BackendLocal && p.Spec.OutputDir != "" {
		if err := os.MkdirAll(p.Spec.OutputDir, 0o777); err != nil {
			return nil, pack.Stats{}, &StoreError{fmt.Errorf("--output-dir %s: %w", p.Spec.OutputDir, err)}
		}
	}
	adopted, stats, err := supply(ctx, p, place, progress, ready)
	if err != nil {
		return nil, stats, err
	}
	if err := describe(ctx, j, p.Call, adopted); err != nil {
		return nil, stats, storeError(err)
	}
	if err := p.inherit(ctx, j); err != nil {
		return nil, stats, errors.Join(storeError(err), withdraw(ctx, j))
	}
	if err := start(ctx, p.Spec, p.Secrets); err != nil {
		return nil, stats, abandon(ctx, j, err, adopted)
	}
	return j, stats, nil
}

// supply does what needs no order: it looks whether the id is free, uploads, and
// makes the place ready.
func supply(ctx context.Context, p Planned, place job.Place, progress func(done, total int64), ready func(context.Context) error) (adopted bool, stats pack.Stats, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		adopted, err = vacant(ctx, place, p.Spec)
		return err
	})
	g.Go(func() (err error) {
		stats, err = p.Files.Upload(ctx, place.Store, progress)
		return storeError(err)
	})
	g.Go(func() error { return storeError(p.storeInputs(ctx, place.Store)) })
	g.Go(func() error { return ready(ctx) })
	err = g.Wait()
	return adopted, stats, err
}

// storeInputs makes sure that the store has the inputs of a map.
func (p Planned) storeInputs(ctx context.Context, s store.Store) error {
	if p.Spec.Map == nil {
		return nil
	}
	_, err := s.PutBlob(ctx, p.Spec.Map.InputsSHA256, p.inputs.Size, p.inputs.open)
	if errors.Is(err, store.ErrMismatch) {
		return fmt.Errorf("the inputs of --map were changed while the job was submitted: %w", err)
	}
	return err
}

// inherit takes over the values of an older map.
func (p Planned) inherit(ctx context.Context, j *job.Job) error {
	if p.From == nil {
		return nil
	}
	if err := j.Inherit(ctx, p.From); err != nil {
		return fmt.Errorf("taking over the values of job %s: %w", p.From.ID(), err)
	}
	return nil
}

// abandon removes the records of a job that could not be started, unless another
// submit left them, or it may run.
func abandon(ctx context.Context, j *job.Job, err error, adopted bool) error {
	mayRun := errors.Is(err, api.ErrMayRun)
	switch {
	case errors.Is(err, fs.ErrExist):
		err = &ExistsError{ID: j.ID(), Where: workloads(j.Handle), Flags: j.PlaceFlag(), Same: mayRun}
	case mayRun:
		err = &MayRunError{id: j.ID(), flags: j.PlaceFlag(), err: err}
	}
	if mayRun || adopted {
		return err
	}
	return errors.Join(err, withdraw(ctx, j))
}

// workloads says where those of a job's backend are.
func workloads(h api.Handle) string {
	if h.Backend == api.BackendLocal {
		return "this machine"
	}
	return "namespace " + h.Namespace
}

// vacant makes sure that an id is free. The records of the same job, whose
// submit may have been cut off before anything ran, are taken over: that submit is
// being repeated. A workload that waits may lack what it owns, which Start knows.
func vacant(ctx context.Context, place job.Place, s api.Spec) (adopted bool, err error) {
	old := place.Exact(ctx, s.ID)
	if old == nil {
		return false, nil // what can't be read is found out when it is written
	}
	same := old.Handle.CallSHA256 == s.CallSHA256 && old.Handle.BundleSHA256 == s.BundleSHA256 && reflect.DeepEqual(old.Handle.Map, s.Map)
	if same {
		began, err := old.Began(ctx)
		if err != nil || !began {
			return true, err
		}
	}
	return false, &ExistsError{ID: s.ID, Where: place.Store.URL(), Flags: old.PlaceFlag(), Same: same}
}

// describe writes the handle, which claims the id, and the call beside it.
func describe(ctx context.Context, j *job.Job, call []byte, adopted bool) error {
	written := make(chan error, 1)
	go func() { written <- j.Store.Create(ctx, store.Call(j.ID()), bytes.NewReader(call), nil) }()
	claimed, err := claim(ctx, j, adopted), <-written
	if claimed != nil {
		return claimed // a call that was written all the same is for the owner of the id to replace
	}
	if errors.Is(err, store.ErrExists) {
		err = replaceCall(ctx, j, call)
	}
	if err == nil || adopted { // the records of the first submit stay
		return err
	}
	return errors.Join(err, withdraw(ctx, j))
}

// claim writes the handle.
func claim(ctx context.Context, j *job.Job, adopted bool) error {
	handle, err := json.MarshalIndent(j.Handle, "", "  ")
	if err != nil {
		return err
	}
	err = j.Store.Create(ctx, store.Handle(j.ID()), bytes.NewReader(append(handle, '\n')), nil)
	if !errors.Is(err, store.ErrExists) {
		return err
	}
	if adopted {
		return nil
	}
	return &ExistsError{ID: j.ID(), Where: j.Store.URL(), Flags: j.PlaceFlag()}
}

// replaceCall puts the call in the place of one that a submit left which was cut
// off, or which lost the race for the id.
func replaceCall(ctx context.Context, j *job.Job, call []byte) error {
	name := store.Call(j.ID())
	old, err := readCall(ctx, j.Store, name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err // it may be the right one
	}
	if err == nil && bytes.Equal(old, call) {
		return nil
	}
	if err := j.Store.Delete(ctx, name); err != nil {
		return err
	}
	return j.Store.Create(ctx, name, bytes.NewReader(call), nil)
}

func readCall(ctx context.Context, s store.Store, name string) (data []byte, err error) {
	r, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(r)
}

// withdrawTime bounds what a failed submit costs on top. A submit whose records
// stay can be repeated.
const withdrawTime = 10 * time.Second

// withdraw removes what describe wrote, also when ctx is over.
func withdraw(ctx context.Context, j *job.Job) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	return errors.Join(j.RemoveResults(ctx), j.Store.Delete(ctx, store.Call(j.ID())), j.Store.Delete(ctx, store.Handle(j.ID())))
}
