package job

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// DefaultGrace is how long a job that is told to end may take to save its outputs.
const DefaultGrace = 30 * time.Second

// Job is a job: its handle, its store and the backend that runs it.
type Job struct {
	Handle  api.Handle
	Store   store.Store
	Backend Backend
	// Usual is the URL of the usual store of its Registry. Only jobs that were found by their
	// workload may be in another.
	Usual string
	// Flags are the Flags of its Registry.
	Flags string
	// New means that this process has just submitted the job: nobody else has its ID, and it has not ended before.
	New bool

	reported *api.Pickle // by its pod, in the log that Follow has read
}

// ID returns the job's id.
func (j *Job) ID() string { return j.Handle.JobID }

// Reported returns the pickle that the job's pod reported in the log that Follow has read; nil if
// that is not known. Nothing that is read from a store sets it.
func (j *Job) Reported() *api.Pickle { return j.reported }

// Status returns the current status of the job, with why it waits. If the workload is gone,
// it says how the job ended, if the store knows.
func (j *Job) Status(ctx context.Context) (api.Status, error) {
	s, err := j.state(ctx)
	if err == nil {
		s = j.withEnd(j.finished(ctx, j.recalled(ctx, s)))
	}
	return j.Advised(s), err
}

// withEnd returns s with the sentence about the job's end, if that is known.
func (j *Job) withEnd(s api.Status) api.Status {
	s.End = s.EndSentence(j.Handle.Map != nil, j.Handle.CallKind)
	return s
}

// finished returns s or, if s is running and the store has an end, that end: a cluster
// reports the end of a container a second or two later, after Wait has returned. A
// cancelled job is still running while it saves its outputs.
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

// Advised returns s with the advice to cancel the job if it waits in vain: until it is
// cancelled, it keeps its part of quotas and the accelerators of the hosts that run. An
// attached run cancels it by itself.
func (j *Job) Advised(s api.Status) api.Status {
	if s.Unrecoverable {
		s.Next = "kubectl kinetic jobs cancel " + j.ID() + j.LocationFlags()
	}
	return s
}

// state returns the current status of the job, with why it waits. If the cluster can't be
// reached and the job has ended, it returns what the store knows.
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

// look reads the current status from the backend, and completes it from the store.
func (j *Job) look(ctx context.Context) (api.Status, error) {
	s, err := j.Backend.Status(ctx, j.Handle)
	if err != nil {
		return s.Status, err
	}
	var count counter
	return j.settled(ctx, count.in(ctx, j, s)), nil
}

// Wait returns the status in which the job ended. It reads the store first: a job that
// has ended needs no cluster, which may be gone by then. A cancelled job may still be
// saving its outputs.
func (j *Job) Wait(ctx context.Context, seen func(api.Status)) (api.Status, error) {
	if end, ended := j.Ended(ctx); ended && end.Reason != api.Cancelled && !j.mayHold(ctx) {
		return j.withEnd(end), nil
	}
	status, err := j.waitForWorkload(ctx, seen)
	if err != nil {
		if end, ended := j.Ended(ctx); ended {
			return j.withEnd(end), nil
		}
	}
	return j.withEnd(status), err
}

// mayHold reports whether a job that has ended may still hold its hosts: a
// LeaderWorkerSet may have to be released.
func (j *Job) mayHold(ctx context.Context) bool {
	if !j.Handle.Backend.IsLeaderWorkerSet() {
		return false
	}
	collected, err := j.Collected(ctx)
	return err != nil || !collected
}

// waitForWorkload returns the status in which the workload ended. If the workload is
// gone, it returns the end in the store, or NotFound.
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

// remembered returns the end in the store, NotFound if there is none.
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

func (j *Job) end(ctx context.Context) (api.End, error) {
	return records.AnyEnd(ctx, j.Store, j.ID())
}

// BeforeStart returns the state of a job of which nothing has run: Pending if its workload waits, NotFound if it
// has none. It returns "" if something has: the workload is no longer pending, or the store has an attempt or an
// end. A call whose warm host is there counts: nothing prevents a second host for it, and both would run it.
func (j *Job) BeforeStart(ctx context.Context) (api.State, error) {
	status, err := j.state(ctx)
	if err != nil || status.State != api.NotFound && (status.State != api.Pending || j.Handle.Host != "") {
		return "", err
	}
	if begun, err := store.HasAny(ctx, j.Store, store.Attempts(j.ID())); begun || err != nil {
		return "", err
	}
	if end, err := j.remembered(ctx); err != nil || end.State != api.NotFound {
		return "", err
	}
	return status.State, nil
}
