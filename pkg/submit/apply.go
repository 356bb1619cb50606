package submit

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
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
	// Same says that it is not another job: it runs the same call on the same code.
	Same bool
}

func (e *ExistsError) Error() string {
	if e.Same {
		return fmt.Sprintf("job ID %q is already taken by the same job in %s: follow it with kubectl kinetic jobs logs -f %s%s, or choose another ID to run it again", e.ID, e.Where, e.ID, e.Flags)
	}
	return fmt.Sprintf("job ID %q is already taken in %s: choose another, or delete that job with kubectl kinetic jobs cleanup %s%s", e.ID, e.Where, e.ID, e.Flags)
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
	return fmt.Sprintf("job %s may run anyway: follow it with kubectl kinetic jobs logs -f %s%s, or delete it with kubectl kinetic jobs cleanup %s%s",
		e.id, e.id, e.flags, e.id, e.flags)
}

// StoreError is a store, or an output directory, that is not there or not for this
// account. Nothing was started. Failures that may pass are no StoreError.
type StoreError struct{ err error }

func (e *StoreError) Error() string { return e.err.Error() }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *StoreError) Unwrap() error { return e.err }

// storeError makes a StoreError of a failure that no repetition fixes.
func storeError(err error) error {
	if errors.Is(err, store.ErrUnusable) {
		return &StoreError{err}
	}
	return err
}

// InputError is a mistake in the input that only a look at the cluster or the store shows.
type InputError struct{ err error }

func (e *InputError) Error() string { return e.err.Error() }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *InputError) Unwrap() error { return e.err }

func inputErrorf(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// Steps are how a cluster, or this machine, makes a job.
type Steps struct {
	// Ready makes what the job will share with others, before anything of its own; nil
	// where there is nothing.
	Ready func(context.Context) error
	// Start makes the workload, or for someone else who will, what its manifests don't
	// hold. A workload of that id that exists already is an error that is fs.ErrExist.
	Start func(ctx context.Context, spec api.Spec, secrets map[string]string) error
}

// Submitted is a job that was carried out, and what that took.
type Submitted struct {
	Job   *job.Job
	Stats pack.Stats
}

// Apply uploads what the store lacks, describes the job there and starts its
// workload, in that order: whatever runs can be found, and a submit that is cut
// off leaves nothing running. progress hears of the bytes of the bundle that
// are stored. An id that is taken is an ExistsError.
func Apply(ctx context.Context, p Planned, registry job.Registry, steps Steps, progress func(done, total int64)) (Submitted, error) {
	return submission{Planned: p, registry: registry, steps: steps, progress: progress}.carryOut(ctx)
}

// submission is a plan on its way to a place.
type submission struct {
	Planned
	registry job.Registry
	steps    Steps
	progress func(done, total int64)
}

// carryOut stores what the job needs, and starts it when that is there.
func (s submission) carryOut(ctx context.Context) (Submitted, error) {
	j := s.registry.NewJob(s.Spec)
	if s.Spec.Backend == api.BackendLocal && s.Spec.OutputDir != "" {
		if err := os.MkdirAll(s.Spec.OutputDir, 0o777); err != nil {
			return Submitted{}, &StoreError{fmt.Errorf("--output-dir %s: %w", s.Spec.OutputDir, err)}
		}
	}
	adopted, stats, err := s.supply(ctx, j)
	if err != nil {
		return Submitted{}, err
	}
	if err := describe(ctx, j, s.Call, adopted); err != nil {
		return Submitted{}, storeError(err)
	}
	err = s.inherit(ctx, j)
	if err != nil && !adopted { // else the records of the first submit stay
		err = errors.Join(err, withdraw(ctx, j))
	}
	if err != nil {
		return Submitted{}, err
	}
	if err := s.steps.Start(ctx, s.Spec, s.secrets()); err != nil {
		return Submitted{}, abandon(ctx, j, err, adopted)
	}
	return Submitted{j, stats}, nil
}

// groupKeyBytes is the length of the secret of a job's hosts.
const groupKeyBytes = 32

// secrets are the values of the job's Secret: those of the user, and the key by which several
// hosts know each other.
func (s submission) secrets() map[string]string {
	if s.Spec.Hosts == 1 {
		return s.Secrets
	}
	key := make([]byte, groupKeyBytes)
	rand.Read(key) // never fails
	all := map[string]string{api.EnvGroupKey: hex.EncodeToString(key)}
	maps.Copy(all, s.Secrets)
	return all
}

// supply does what needs no order: it looks whether the id is free, uploads, makes
// the place ready, and completes the handle.
func (s submission) supply(ctx context.Context, j *job.Job) (adopted bool, stats pack.Stats, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		adopted, err = vacant(ctx, s.registry, s.Spec)
		return err
	})
	g.Go(func() (err error) {
		stats, err = s.Files.Upload(ctx, s.registry.Store, s.progress)
		return storeError(err)
	})
	g.Go(func() error { return storeError(s.storeInputs(ctx)) })
	if s.origin != nil {
		g.Go(func() error {
			j.Handle.Origin = s.origin(ctx, s.Root)
			return nil
		})
	}
	if s.steps.Ready != nil {
		g.Go(func() error { return s.steps.Ready(ctx) })
	}
	err = g.Wait()
	return adopted, stats, err
}

// storeInputs makes sure that the store has the inputs of a map.
func (s submission) storeInputs(ctx context.Context) error {
	if s.Spec.Map == nil {
		return nil
	}
	_, err := s.registry.Store.PutBlob(ctx, s.Spec.Map.InputsSHA256, s.inputs.Size, s.inputs.open)
	if errors.Is(err, store.ErrMismatch) {
		return fmt.Errorf("the inputs of --map changed while the job was submitted: %w", err)
	}
	return err
}

// inherit takes over the values of an older map.
func (s submission) inherit(ctx context.Context, j *job.Job) error {
	if s.From == nil {
		return nil
	}
	if err := j.Inherit(ctx, s.From, s.Inherits); err != nil {
		return fmt.Errorf("taking over the values of job %s: %w", s.From.ID(), storeError(err))
	}
	return nil
}

// abandon removes the records of a job that could not be started, unless another
// submit left them, or it may run.
func abandon(ctx context.Context, j *job.Job, err error, adopted bool) error {
	mayRun := errors.Is(err, api.ErrMayRun)
	switch {
	case errors.Is(err, fs.ErrExist):
		err = &ExistsError{ID: j.ID(), Where: workloads(j.Handle), Flags: j.LocationFlags(), Same: mayRun}
	case mayRun:
		err = &MayRunError{id: j.ID(), flags: j.LocationFlags(), err: err}
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
func vacant(ctx context.Context, registry job.Registry, s api.Spec) (adopted bool, err error) {
	old := registry.Exact(ctx, s.ID)
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
	return false, &ExistsError{ID: s.ID, Where: registry.Store.URL(), Flags: old.LocationFlags(), Same: same}
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
	return &ExistsError{ID: j.ID(), Where: j.Store.URL(), Flags: j.LocationFlags()}
}

// replaceCall puts the call instead of one that a submit left which was cut
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

const (
	// withdrawTime bounds what a failed submit costs on top. A submit whose records
	// stay can be repeated.
	withdrawTime = 10 * time.Second
	// resultsTime is for the values that a map has taken over, which may be thousands.
	resultsTime = time.Minute
)

// withdraw removes what was written of a job, also when ctx is over. The handle goes
// last: values that were left under a free id would be taken for those of the next
// map that gets it.
func withdraw(ctx context.Context, j *job.Job) error {
	ctx = context.WithoutCancel(ctx)
	values, cancel := context.WithTimeout(ctx, resultsTime)
	defer cancel()
	if err := j.RemoveResults(values, func(int, int) {}); err != nil {
		return err
	}
	ctx, cancel = context.WithTimeout(ctx, withdrawTime)
	defer cancel()
	return errors.Join(j.Store.Delete(ctx, store.Call(j.ID())), j.Store.Delete(ctx, store.Handle(j.ID())))
}
