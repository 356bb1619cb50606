// Package job works on jobs by their ids, wherever they run: it lists and
// follows them, brings their results back, ends them and cleans up. `run` and
// `jobs` share it.
package job

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/records"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// DefaultGrace is how long a job that is told to end may save its outputs.
const DefaultGrace = 30 * time.Second

// Job is one job: its description, and where it lives.
type Job struct {
	Handle  api.Handle
	Store   store.Store
	Backend Backend
	// Flags are those of its Registry.
	Flags string
}

// ID is the job's id.
func (j *Job) ID() string { return j.Handle.JobID }

// Status is the job's state now, and why it waits if it does. Of one whose workload is gone
// it is how the job ended, if the store knows.
func (j *Job) Status(ctx context.Context) (api.Status, error) {
	s, err := j.state(ctx)
	if err == nil {
		s = j.finished(ctx, j.recalled(ctx, s))
	}
	return j.Advised(s), err
}

// finished is a status with the end that the store says, where the workload takes the job
// for running: a cluster knows of a container's end a second or two later, when Wait has
// returned. One that was cancelled runs until it has saved its outputs.
func (j *Job) finished(ctx context.Context, s api.Status) api.Status {
	if s.State != api.Running {
		return s
	}
	end, ended := j.Ended(ctx)
	if !ended || end.Reason == api.Cancelled {
		return s
	}
	end.UnreleasedHosts = s.UnreleasedHosts
	return end
}

// Advised is a status of the job whose next step is to cancel it where waiting does not
// help: until then no one ends it, and it keeps its part of quotas and the accelerators of the
// hosts that run. A run that is attached cancels it by itself.
func (j *Job) Advised(s api.Status) api.Status {
	if s.Unrecoverable {
		s.Next = "kubectl kinetic jobs cancel " + j.ID() + j.LocationFlags()
	}
	return s
}

// state is the job's state now, and why it waits if it does. Where the cluster can't
// be asked about a job that has ended, it is what the store knows.
func (j *Job) state(ctx context.Context) (api.Status, error) {
	s, err := j.look(ctx)
	if err == nil {
		return s, nil
	}
	end, ended := j.Ended(ctx)
	if !ended {
		return s, err
	}
	if gone := j.recalled(ctx, api.Status{State: api.NotFound}); gone.Collected {
		return gone, nil
	}
	end.Unread = err.Error()
	return end, nil
}

// look asks the backend for the job's state now, and completes it from the store.
func (j *Job) look(ctx context.Context) (api.Status, error) {
	s, err := j.Backend.Status(ctx, j.Handle)
	if err != nil {
		return s.Status, err
	}
	var count counter
	return j.settled(ctx, count.in(ctx, j, s)), nil
}

// Wait returns the state that the job ended in. The store is asked first: a job that has
// ended needs no cluster, which may be gone by then. One that was cancelled may still be
// saving its outputs.
func (j *Job) Wait(ctx context.Context, seen func(api.Status)) (api.Status, error) {
	if end, ended := j.Ended(ctx); ended && end.Reason != api.Cancelled && !j.mayHold(ctx) {
		return end, nil
	}
	status, err := j.waitForWorkload(ctx, seen)
	if err != nil {
		if end, ended := j.Ended(ctx); ended {
			return end, nil
		}
	}
	return status, err
}

// mayHold reports whether the workload is to be looked at although the job has ended: a
// LeaderWorkerSet may have to be released.
func (j *Job) mayHold(ctx context.Context) bool {
	if j.Handle.Backend != api.BackendPathways {
		return false
	}
	collected, err := j.Collected(ctx)
	return err != nil || !collected
}

// waitForWorkload returns the state that the workload ended in. Where that is gone it is
// the one that the store remembers, or NotFound.
func (j *Job) waitForWorkload(ctx context.Context, seen func(api.Status)) (api.Status, error) {
	var alive *api.Status
	status, err := j.watch(ctx, func(s api.Status) {
		if !s.State.Ended() {
			alive = &s
		}
		seen(s)
	})
	if err != nil || status.State != api.NotFound {
		return status, err
	}
	status, err = j.remembered(ctx)
	if err == nil && status.State == api.NotFound && alive != nil {
		return j.vanished(ctx, *alive)
	}
	return status, err
}

// remembered is the end that the store reports, NotFound if it says none.
func (j *Job) remembered(ctx context.Context) (api.Status, error) {
	end, err := j.end(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return api.Status{State: api.NotFound, Message: j.unknownEnd()}, nil
	}
	if err != nil {
		return api.Status{}, err
	}
	return end.Status(), nil
}

// end is end.json.
func (j *Job) end(ctx context.Context) (api.End, error) {
	return records.End(ctx, j.Store, j.ID())
}

// Began reports whether anything of the job has run: its workload no longer waits,
// or the store knows of an attempt or an end.
func (j *Job) Began(ctx context.Context) (bool, error) {
	status, err := j.state(ctx)
	if err != nil || status.State != api.NotFound && status.State != api.Pending {
		return true, err
	}
	for _, err := range j.Store.List(ctx, store.Attempts(j.ID()), "") {
		return true, err
	}
	status, err = j.remembered(ctx)
	return status.State != api.NotFound, err
}
