package submit

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// ExistsError means that a job ID is taken.
type ExistsError struct {
	ID string
	// Where the other job is: a store, a namespace, this machine.
	Where string
	// Flags find the other job from a command line.
	Flags string
	// Same means that it is not another job: it runs the same call on the same code.
	Same bool
	// Removal is the command that removes the outputs of an earlier job, if only these are left.
	Removal string
	// Elsewhere names the other namespace or cluster in which the job may run; nil if it is not in another one.
	Elsewhere *job.IDError
}

func (e *ExistsError) Error() string {
	switch {
	case e.Removal != "":
		return fmt.Sprintf("an earlier job with the ID %q has left outputs in %s: choose another ID, or delete them with %s", e.ID, e.Where, e.Removal)
	case e.Elsewhere != nil:
		return fmt.Sprintf("job ID %q is already taken in %s: %v, or choose another ID", e.ID, e.Where, e.Elsewhere)
	case e.Same:
		return fmt.Sprintf("job ID %q is already taken by the same job in %s: follow it with kubectl kinetic jobs logs -f %s%s, or choose another ID to run it again", e.ID, e.Where, e.ID, e.Flags)
	}
	return fmt.Sprintf("job ID %q is already taken in %s: choose another, or delete that job with kubectl kinetic jobs cleanup %s%s", e.ID, e.Where, e.ID, e.Flags)
}

// Kind implements what pkg/cmd/cli asks an error for.
func (e *ExistsError) Kind() api.ErrorKind { return api.KindExists }

// Next returns the command that shows or deletes the other job.
func (e *ExistsError) Next() string {
	if e.Removal != "" {
		return e.Removal
	}
	if e.Elsewhere != nil {
		return e.Elsewhere.Next()
	}
	verb := "cleanup"
	if e.Same {
		verb = "logs -f"
	}
	return fmt.Sprintf("kubectl kinetic jobs %s %s%s", verb, e.ID, e.Flags)
}

// MayRunError is a failed submit after which the job may run anyway. It is api.ErrMayRun.
type MayRunError struct {
	id, flags string
	err       error
}

func (e *MayRunError) Error() string { return fmt.Sprintf("%v; %s", e.err, e.Advice()) }

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *MayRunError) Unwrap() error { return e.err }

// Next returns the command that shows whether the job runs.
func (e *MayRunError) Next() string {
	return fmt.Sprintf("kubectl kinetic jobs logs -f %s%s", e.id, e.flags)
}

// Advice says that the job may run, and what to do about it.
func (e *MayRunError) Advice() string {
	return fmt.Sprintf("job %s may run anyway: follow it with kubectl kinetic jobs logs -f %s%s, or delete it with kubectl kinetic jobs cleanup %s%s",
		e.id, e.id, e.flags, e.id, e.flags)
}

// StoreError means that a store, or an output directory, doesn't exist or that this
// account may not use it. Nothing was started. Failures that may pass are not a
// StoreError.
type StoreError struct{ error }

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *StoreError) Unwrap() error { return e.error }

// storeError turns a failure that no repetition fixes into a StoreError.
func storeError(err error) error {
	if errors.Is(err, store.ErrUnusable) {
		return &StoreError{err}
	}
	return err
}

// InputError is a mistake in the input that can only be found in the cluster or the
// store.
type InputError struct{ error }

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *InputError) Unwrap() error { return e.error }

func inputErrorf(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// Hooks are how a cluster, or this machine, makes a job.
type Hooks struct {
	// Ready makes what the job shares with others, before anything of its own; nil if
	// nothing is shared.
	Ready func(context.Context) error
	// Start makes the workload, or, if someone else will, what its manifests don't
	// contain. If a workload with that ID exists already, the error is fs.ErrExist.
	Start func(ctx context.Context, spec api.Spec, secrets map[string]string) error
	// Give is Start for a small new job, nil if there is no such way: it starts the job with what that consists of, as objects by their
	// names, while the store gets them.
	Give func(ctx context.Context, spec api.Spec, objects map[string][]byte) error
	// Waits means that Give may wait for long, and that the job may never start: it is stored only then.
	Waits bool
	// Records are further objects that describe the job, by their names.
	Records map[string][]byte
}

// Submitted is a submitted job, with the statistics of its upload.
type Submitted struct {
	Job *job.Job
	// Stats are those of the bundle, Data those of the job's inputs.
	Stats, Data pack.Stats
	// Stored waits until the store has the job; nil if it has it already. If storing fails, the host of the job does it.
	Stored func() error
}

// Apply uploads what the store lacks, describes the job there and starts its workload, in
// that order: whatever runs can be found, and an interrupted submit leaves nothing
// running. With Hooks.Give, a small new job starts at once, and its host stores what this
// process can't. progress, if not nil, is called by one goroutine at a time with how many
// more of the plan's StoredBytes are stored. If the ID is taken, Apply returns an
// ExistsError.
func Apply(ctx context.Context, p Planned, registry job.Registry, steps Hooks, progress func(more int64)) (Submitted, error) {
	return submission{Planned: p, registry: registry, steps: steps, progress: serialized(progress)}.carryOut(ctx)
}

// submission is a plan that is being carried out.
type submission struct {
	Planned
	registry job.Registry
	steps    Hooks
	progress func(more int64)
}

// carryOut stores what the job needs, and then starts it.
func (s submission) carryOut(ctx context.Context) (Submitted, error) {
	j := s.registry.NewJob(s.Spec)
	if s.Spec.Backend == api.BackendLocal && s.Spec.OutputDir != "" {
		if err := os.MkdirAll(s.Spec.OutputDir, 0o777); err != nil {
			return Submitted{}, &StoreError{fmt.Errorf("--output-dir %s: %w", s.Spec.OutputDir, err)}
		}
	}
	j.Handle.ImageMode, j.Handle.ImageDigests = string(s.Environment.Mode), s.provided.Digests
	j.Handle.Packages = Packages(s.provided.Wheels)
	j.Handle.CommandLine = &api.CommandLine{Target: s.request.Target, Flags: s.request.Flags}
	done := Submitted{Job: j}
	if objects := s.given(j); objects != nil {
		return s.give(ctx, j, objects)
	}
	left, err := s.supply(ctx, &done)
	if err == nil && left == api.Pending { // it may have been removed during the upload
		left, err = vacant(ctx, s.registry, s.Spec)
	}
	if err != nil {
		return Submitted{}, err
	}
	adopted, waits := left != "", left == api.Pending // a workload that waits has its records
	if !waits {
		err = s.fill(ctx, j, adopted)
	}
	if err != nil {
		return Submitted{}, err
	}
	if err := s.steps.Start(ctx, s.Started(), s.secrets()); err != nil {
		return Submitted{}, s.abandon(ctx, j, err, adopted)
	}
	j.New = !adopted
	if waits { // it was removed meanwhile: this submit started the job
		if err := s.fill(ctx, j, adopted); err != nil {
			err = fmt.Errorf("%w, but its records could not be stored: %w", api.ErrMayRun, err)
			return Submitted{}, &MayRunError{id: j.ID(), flags: j.LocationFlags(), err: err}
		}
	}
	return done, nil
}

// fill stores the records of the job.
func (s submission) fill(ctx context.Context, j *job.Job, adopted bool) error {
	if err := s.describe(ctx, j, adopted); err != nil {
		return storeError(err)
	}
	err := s.inherit(ctx, j)
	if err != nil && !adopted { // else the records of the first submit stay
		err = errors.Join(err, s.withdraw(ctx, j))
	}
	return err
}

// groupKeyBytes is the length of the secret of a job's hosts.
const groupKeyBytes = 32

// secrets returns the values of the job's Secret: the user's, and the key by which
// several hosts recognize each other.
func (s submission) secrets() map[string]string {
	if s.Spec.Hosts == 1 {
		return s.Secrets
	}
	key := make([]byte, groupKeyBytes)
	rand.Read(key) // never fails
	all := map[string]string{api.Contract.Names.GroupKey: hex.EncodeToString(key)}
	maps.Copy(all, s.Secrets)
	return all
}

// supply does the steps that can run in any order: it checks that the ID is free,
// uploads, makes the place ready, and completes the handle. left is the state that vacant returns.
func (s submission) supply(ctx context.Context, done *Submitted) (left api.State, err error) {
	g, ctx := errgroup.WithContext(ctx)
	if !done.Job.New {
		g.Go(func() (err error) {
			left, err = vacant(ctx, s.registry, s.Spec)
			return err
		})
	}
	g.Go(func() (err error) {
		done.Stats, err = s.Files.Upload(ctx, s.registry.Store, s.progress)
		return storeError(err)
	})
	g.Go(func() (err error) {
		done.Data, err = s.storeData(ctx)
		return storeError(err)
	})
	g.Go(func() error { return storeError(s.storeInputs(ctx)) })
	if s.origin != nil {
		g.Go(func() error {
			done.Job.Handle.Origin = s.origin(ctx, s.Root)
			return nil
		})
	}
	if s.steps.Ready != nil {
		g.Go(func() error { return s.steps.Ready(ctx) })
	}
	err = g.Wait()
	return left, err
}

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
	if err := j.Results().Inherit(ctx, s.From.Results(), s.Inherits); err != nil {
		return fmt.Errorf("taking over the values of job %s: %w", s.From.ID(), storeError(err))
	}
	return nil
}

// abandon deletes the records of a job that could not be started, unless another submit
// left them, or the job may run.
func (s submission) abandon(ctx context.Context, j *job.Job, err error, adopted bool) error {
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
	return errors.Join(err, s.withdraw(ctx, j))
}

// workloads says where a job's backend keeps its workloads.
func workloads(h api.Handle) string {
	if h.Backend == api.BackendLocal {
		return "this machine"
	}
	return "namespace " + h.Namespace
}

// vacant checks that an ID is free. left is "" if it has no records. If these are of the
// same job, whose submit may have been interrupted before anything ran, they are adopted:
// that submit is being repeated, and left is the job's state. A waiting workload may lack
// objects that it owns; Start checks that.
func vacant(ctx context.Context, registry job.Registry, s api.Spec) (left api.State, err error) {
	old := registry.ByID(ctx, s.ID)
	switch {
	case old == nil && (s.OutputDir != "" || store.IsMadeID(s.ID)): // if it can't be read, writing it reports why
		return "", nil
	case old == nil:
		j := registry.NewJob(s)
		left, err := j.LeavesOutputs(ctx)
		if left {
			err = &ExistsError{ID: s.ID, Where: registry.Store.URL(), Removal: j.RemovalOfOutputs(ctx)}
		}
		return "", storeError(err)
	}
	same := old.Handle.CallSHA256 == s.CallSHA256 && old.Handle.BundleSHA256 == s.BundleSHA256 &&
		reflect.DeepEqual(old.Handle.Map, s.Map) && reflect.DeepEqual(old.Handle.Payload, s.Payload)
	if elsewhere := (*job.IDError)(nil); same && errors.As(registry.Reaches(old.Handle), &elsewhere) { // its workload can't be seen from here
		return "", &ExistsError{ID: s.ID, Where: registry.Store.URL(), Elsewhere: elsewhere}
	}
	if same {
		left, err := old.BeforeStart(ctx)
		if err != nil || left == api.NotFound || left == api.Pending && old.Handle.Backend == s.Backend {
			return left, err
		}
	}
	return "", &ExistsError{ID: s.ID, Where: registry.Store.URL(), Flags: old.LocationFlags(), Same: same}
}

// describe writes the handle, which claims the ID, and the call and other records next to it.
func (s submission) describe(ctx context.Context, j *job.Job, adopted bool) error {
	uploading, stop := context.WithCancel(ctx)
	defer stop()
	open := s.payload.Open(s.progress)
	written, uploaded, recorded := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	go func() { written <- j.Store.Create(ctx, store.Call(j.ID()), bytes.NewReader(s.Call), nil) }()
	go func() { recorded <- s.record(uploading) }()
	go func() { uploaded <- s.storePayload(uploading, j, open) }()
	claimed := claim(ctx, j, adopted)
	if claimed != nil {
		stop()
	}
	err, failed, unrecorded := <-written, <-uploaded, <-recorded
	if claimed != nil {
		return claimed // if the call was written anyway, the owner of the ID replaces it
	}
	if errors.Is(err, store.ErrExists) {
		err = replaceCall(ctx, j, s.Call)
	}
	if errors.Is(failed, store.ErrExists) {
		failed = s.replacePayload(ctx, j, open)
	}
	err = errors.Join(err, failed, unrecorded)
	if err == nil || adopted { // the records of the first submit stay
		return err
	}
	return errors.Join(err, s.withdraw(ctx, j))
}
