package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Retire removes the workload of a job whose result was delivered, and records that in
// the store. If that is already recorded, it makes no request to the cluster. The error
// says what could not be done.
func (j *Job) Retire(ctx context.Context) error {
	collected, err := j.Collected(ctx)
	if err != nil {
		return fmt.Errorf("could not check in the store whether its workload was deleted: %w", err)
	}
	if collected {
		return nil
	}
	if err := j.Backend.Delete(ctx, j.Handle, api.DeleteOptions{KeepLog: true}); err != nil {
		return fmt.Errorf("its workload could not be deleted: %w", err)
	}
	record := api.Collected{Version: api.EndVersion, Time: timeOf(j.Backend, time.Now()).UTC().Truncate(time.Second)}
	err = records.Create(ctx, j.Store, store.Collected(j.ID()), record, nil)
	if err != nil && !errors.Is(err, store.ErrExists) { // with ErrExists, another reader was faster
		return fmt.Errorf("the deletion of its workload could not be recorded: %w", err)
	}
	return nil
}

// Collected reports whether the result was delivered and the workload removed.
func (j *Job) Collected(ctx context.Context) (bool, error) {
	record, err := optional(j.collected(ctx))
	return record != nil, err
}

func (j *Job) collected(ctx context.Context) (api.Collected, error) {
	return records.Read[api.Collected](ctx, j.Store, store.Collected(j.ID()))
}

// DeleteResult removes the call and the result. It keeps a result whose exact value only
// its pickle has, unless that is how the job's result is delivered. seen is called with the
// number of removed objects.
func (j *Job) DeleteResult(ctx context.Context, seen func(done, total int)) error {
	if err := j.Store.Delete(ctx, store.Call(j.ID())); err != nil {
		return err
	}
	isPickle := j.Handle.CallKind == api.CallPickle
	if isPickle {
		if err := j.Store.Delete(ctx, store.Payload(j.ID())); err != nil {
			return err
		}
	}
	if j.Handle.Map != nil {
		return j.Results().Remove(ctx, isPickle, seen)
	}
	r, err := optional(j.ResultHead(ctx))
	if err != nil || r == nil || r.Pickle != nil && !isPickle {
		return err
	}
	if r.Pickle != nil {
		if err := j.Store.Delete(ctx, store.Pickle(j.ID(), *r.Pickle)); err != nil {
			return err
		}
	}
	return j.Store.Delete(ctx, store.Result(j.ID()))
}

// Cancel ends the job and removes its workload. The job gets grace to save outputs and
// logs. Cancel returns the status that the job had, or its end if it has ended by itself. It does nothing if the
// workload shows that the job has ended. A job whose status can't be read is told to end all the same. why is the message that the store records.
func (j *Job) Cancel(ctx context.Context, grace time.Duration, now time.Time, why string) (api.Status, error) {
	return j.CancelAfter(ctx, func() {}, grace, now, why)
}

// CancelAfter is as Cancel. It calls first before it ends the job: what the job does then counts as cancelled, too.
func (j *Job) CancelAfter(ctx context.Context, first func(), grace time.Duration, now time.Time, why string) (api.Status, error) {
	status, err := j.state(ctx)
	if ctx.Err() != nil {
		return status, err
	}
	if err == nil && status.State.Ended() {
		return j.withEnd(j.recalled(ctx, status)), nil
	}
	if status.Elsewhere != "" {
		return status, j.Backend.Delete(ctx, j.Handle, api.DeleteOptions{Grace: grace}) // says why it can't
	}
	end := api.End{State: api.Failed, Reason: api.Cancelled, Message: why, ExitCode: api.Cancelled.Code(),
		Attempt: status.Attempt, Started: status.Started, Finished: timeOf(j.Backend, now).UTC(), By: "cancel"}
	ending := func() error { return RecordCancel(ctx, j.Store, j.ID(), end) }
	first()
	if err := j.Backend.Delete(ctx, j.Handle, api.DeleteOptions{Grace: grace, Ending: ending, KeepLog: true}); err != nil {
		return status, err
	}
	if end, ended := j.Ended(ctx); ended && end.Reason != api.Cancelled { // before it was told to
		end.UnreleasedHosts = status.UnreleasedHosts
		status = end
	}
	return j.withEnd(status), nil
}

// wasTold reports whether a job ended because its runner got a signal, or lost hosts.
func wasTold(end api.End) bool { return end.Reason == api.Terminated || end.Reason == api.Disrupted }

// RecordCancel records the end of a cancelled job. It is called only after the job was
// told to end: an interrupted cancel must not record the end of a job that continues. It
// replaces an end that the runner recorded first: a runner knows which signal it got, or
// which hosts were lost, but not who caused it. A result of a call that ended by itself has its own end.
func RecordCancel(ctx context.Context, s store.Store, id string, end api.End) error {
	if stored, err := records.EndOfResult(ctx, s, id); err == nil && !wasTold(stored) {
		end = stored
	}
	err := records.CreateEnd(ctx, s, id, end)
	if !errors.Is(err, store.ErrExists) {
		return err
	}
	found, err := records.Find(ctx, s, store.End(id))
	if err != nil {
		return err
	}
	was, err := records.End(ctx, s, id)
	if err != nil || !wasTold(was) {
		return err
	}
	if err := records.ReplaceEnd(ctx, s, found, end); !errors.Is(err, store.ErrExists) {
		return err
	}
	return nil
}

// CleanupOptions says what a cleanup removes.
type CleanupOptions struct {
	// Workload is the process or the Kubernetes objects.
	Workload bool
	// Stored is the handle, the logs, the result and all other records.
	Stored bool
	// Outputs is what the job wrote below KINETIC_OUTPUT_DIR.
	Outputs bool
}

// Cleaned says what a cleanup did.
type Cleaned struct {
	// Cancelled is whether the job was running.
	Cancelled bool `json:"cancelled"`
	// Outputs is how many outputs are left in the store.
	Outputs int `json:"outputsKept"`
}

// String says what was done, in lower case.
func (c Cleaned) String() string {
	if c.Cancelled {
		return "cancelled and cleaned up"
	}
	return "cleaned up"
}

// Cleanup removes parts of a job; with the workload, it cancels a job that runs, so that who follows it, and the
// records that stay, know why it ended. It never removes blobs, which jobs share, or other people's objects among the
// records. The handle is removed last, so that an interrupted cleanup can be repeated. seen is called with the number
// of removed objects. ended says that the job is known to have ended, so that nobody needs to look.
func (j *Job) Cleanup(ctx context.Context, options CleanupOptions, ended bool, seen func(done, total int)) (cleaned Cleaned, err error) {
	if options.Workload && !ended {
		was, err := j.Cancel(ctx, DefaultGrace, time.Now(), api.CancelledMessage)
		if err != nil {
			return cleaned, err
		}
		cleaned.Cancelled = was.State == api.Pending || was.State == api.Running
	}
	if options.Workload {
		if err := j.Backend.Delete(ctx, j.Handle, api.DeleteOptions{Grace: DefaultGrace, Secret: true, KeepLog: !options.Stored}); err != nil {
			return cleaned, err
		}
	}
	handle := store.Handle(j.ID())
	var going, indexes []string
	files := 0 // that indexes name, or that were not finished
	for o, err := range j.objects(ctx) {
		switch {
		case err != nil:
			return cleaned, err
		case o.Name == handle:
		case options.Stored && store.IsRecord(j.ID(), o.Name), options.Outputs && j.isOutput(o), j.losesSync(options) && store.IsSync(j.ID(), o.Name):
			going = append(going, o.Name)
		case j.isOutput(o):
			cleaned.Outputs++
		case store.IsIndex(j.ID(), o.Name):
			indexes = append(indexes, o.Name)
		case store.IsSync(j.ID(), o.Name):
			files++
		}
	}
	if options.Stored && cleaned.Outputs+files == 0 {
		going = append(going, indexes...) // of a job without outputs
	}
	if err := store.DeleteAll(ctx, j.Store, going, seen); err != nil || !options.Stored {
		return cleaned, err
	}
	return cleaned, j.Store.Delete(ctx, handle)
}

// losesSync reports whether a cleanup removes what tells which outputs are complete: it is
// of use as long as the job has outputs of its own.
func (j *Job) losesSync(options CleanupOptions) bool {
	return options.Outputs || options.Stored && j.Handle.OutputDir != ""
}
