package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Collect writes the result's value and tells written of the rest. Once both
// have succeeded, and with cleanup, it removes the workload, the call and the
// result. Handle, end, attempts, logs and outputs stay, and so does a result
// whose exact value only its pickle has.
func (j *Job) Collect(ctx context.Context, value io.Writer, cleanup bool, written func(api.Result) error) error {
	r, err := j.Result(ctx, value)
	if err != nil {
		return err
	}
	if err := written(r); err != nil || !cleanup {
		return err
	}
	return j.release(ctx, r)
}

// release removes what a collected job no longer needs.
func (j *Job) release(ctx context.Context, r api.Result) error {
	if err := j.stop(ctx, 0, nil); err != nil {
		return err
	}
	if err := j.removePrepared(ctx); err != nil {
		return err
	}
	names := []string{store.Call(j.ID())}
	if r.Pickle == nil {
		names = append(names, store.Result(j.ID()))
	}
	for _, name := range names {
		if err := j.Store.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Cancel ends the job and removes its workload, giving it grace to save
// outputs and logs. It reports the state that the job was in: one that has
// ended is left as it is. why is what the store remembers of it.
func (j *Job) Cancel(ctx context.Context, grace time.Duration, now time.Time, why string) (api.Status, error) {
	status, err := j.state(ctx)
	if err != nil || status.State.Ended() {
		return status, err
	}
	if status.Elsewhere != "" {
		return status, j.stop(ctx, grace, nil) // says why it can't
	}
	end := api.End{State: api.Failed, Reason: api.Cancelled, Message: why, ExitCode: api.Cancelled.Code(),
		Attempt: status.Attempt, Started: status.Started, Finished: timeOf(j.Workload, now).UTC(), By: "cancel"}
	if err := j.stop(ctx, grace, func() error { return j.recordCancel(ctx, end) }); err != nil {
		return status, err
	}
	return status, j.removePrepared(ctx)
}

// recordCancel records the end of a job that was told to end, and no earlier: a
// cancel that is cut off must not leave its word on a job that goes on. A runner
// that was faster knows only which signal it got, or which hosts were gone before,
// not by whom.
func (j *Job) recordCancel(ctx context.Context, end api.End) error {
	err := j.createEnd(ctx, end)
	if !errors.Is(err, store.ErrExists) {
		return err
	}
	was, err := j.end(ctx)
	if err != nil || was.Reason != api.Terminated && was.Reason != api.Disrupted {
		return err
	}
	if err := j.Store.Delete(ctx, store.End(j.ID())); err != nil {
		return err
	}
	return j.recordEnd(ctx, end)
}

// stop makes sure that there is no workload.
func (j *Job) stop(ctx context.Context, grace time.Duration, ending func() error) error {
	err := j.Workload.Stop(ctx, j.ID(), grace, ending)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// recordEnd writes end.json unless somebody knew earlier.
func (j *Job) recordEnd(ctx context.Context, end api.End) error {
	err := j.createEnd(ctx, end)
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// createEnd writes end.json; store.ErrExists where somebody knew earlier.
func (j *Job) createEnd(ctx context.Context, end api.End) error {
	end.Version = api.EndVersion
	data, err := json.Marshal(end)
	if err != nil {
		return err
	}
	return j.Store.Create(ctx, store.End(j.ID()), bytes.NewReader(append(data, '\n')), end.Metadata())
}

// removePrepared removes what comes with a job on several hosts where it was prepared:
// nothing owns it, so it doesn't go with the workload. A job that could not be stopped
// still needs it.
func (j *Job) removePrepared(ctx context.Context) error {
	w, ok := j.Workload.(interface {
		RemovePrepared(ctx context.Context, h api.Handle) error
	})
	if !ok {
		return nil
	}
	return w.RemovePrepared(ctx, j.Handle)
}

// removeSecret removes the Secret of a job that was prepared: nothing owns it, so
// it doesn't go with the workload.
func (j *Job) removeSecret(ctx context.Context) error {
	w, ok := j.Workload.(interface {
		RemoveSecret(ctx context.Context, h api.Handle) error
	})
	if !ok || len(j.Handle.SecretEnv) == 0 && j.Handle.Hosts <= 1 {
		return nil
	}
	return w.RemoveSecret(ctx, j.Handle)
}

// Parts says what a cleanup removes.
type Parts struct {
	// Workload is the process or the Kubernetes objects.
	Workload bool
	// Stored is the handle, the logs, the result and all other records.
	Stored bool
	// Outputs is what the job wrote below KINETIC_OUTPUT_DIR.
	Outputs bool
}

// Cleanup removes parts of a job; a job that runs is ended. Blobs are shared
// and never removed, nor is what others have put among the records. It can be
// repeated when it was cut off: the handle goes last. seen hears how many objects of
// the store are gone.
func (j *Job) Cleanup(ctx context.Context, p Parts, seen func(done, total int)) error {
	if p.Workload {
		if err := j.stop(ctx, DefaultGrace, nil); err != nil {
			return err
		}
		if err := errors.Join(j.removePrepared(ctx), j.removeSecret(ctx)); err != nil {
			return err
		}
	}
	objects, err := j.objects(ctx)
	if err != nil {
		return err
	}
	handle := store.Handle(j.ID())
	going := slices.DeleteFunc(objects, func(o store.Object) bool {
		goes := p.Stored && store.IsRecord(j.ID(), o.Name) || p.Outputs && j.isOutput(o)
		return !goes || o.Name == handle
	})
	if err := j.remove(ctx, going, seen); err != nil || !p.Stored {
		return err
	}
	return j.Store.Delete(ctx, handle)
}

// remove removes objects, some at the same time. seen hears how many are gone.
func (j *Job) remove(ctx context.Context, objects []store.Object, seen func(done, total int)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(mapReaders)
	var mu sync.Mutex
	done := 0
	for _, o := range objects {
		g.Go(func() error {
			if err := j.Store.Delete(ctx, o.Name); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			seen(done, len(objects))
			return nil
		})
	}
	return g.Wait()
}
