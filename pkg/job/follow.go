package job

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// errOver stops watching a job whose log has said that it has ended.
var errOver = errors.New("the log has already shown the end")

// Follow writes what the job prints until it has ended and everything is written, and
// returns how it ended. seen, which may be nil, is called on every change of state.
//
// The end is known from the workload, or from the store once the log has announced it: a cluster
// reports the end of a container a second or two later. If the job failed, Follow waits for the
// cluster's report, so that a user who then looks at the cluster finds the same.
//
// For a job that has ended, no cluster is needed if the store has the whole log. If the
// cluster can't be reached, Follow prints what the store has.
func (j *Job) Follow(ctx context.Context, o logs.Options, w display.Streams, seen func(api.Status)) (api.Status, error) {
	if !j.New { // else the store has nothing of it yet
		if end, complete := j.allStored(ctx); complete {
			return end, j.logsOf(ctx, api.Status{State: api.NotFound}, j.archive(), o, w)
		}
	}
	status, begun, err := j.follow(ctx, o, w, seen)
	if err == nil || begun || ctx.Err() != nil || j.Handle.ByPythonTool() {
		return status, err
	}
	end, ended := j.Ended(ctx)
	if !ended {
		return status, err
	}
	return end, j.logsOf(ctx, api.Status{State: api.NotFound}, j.archive(), o, w)
}

// follow is Follow by way of the workload. begun reports whether the backend has answered.
func (j *Job) follow(ctx context.Context, o logs.Options, w display.Streams, seen func(api.Status)) (status api.Status, begun bool, err error) {
	o.Follow = true
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	archive := j.archive()
	first := make(chan api.Status, 1)
	written := make(chan error, 1)
	go func() {
		var err error
		select {
		case s := <-first:
			err = j.logsOf(ctx, s, archive, o, w)
		case <-ctx.Done():
			err = ctx.Err()
		}
		end, ended := archive.End()
		switch {
		case err != nil:
			cancel(err) // nothing is read any more: stop watching too
		case end.State == api.Succeeded, ended && j.Handle.Host != "": // the workload of a warm host does not end
			cancel(errOver)
		}
		written <- err
	}()
	status, err = j.waitForWorkload(ctx, func(s api.Status) {
		begun = true
		if seen != nil {
			seen(s) // before the log, which begins with the first status
		}
		select {
		case first <- s:
		default:
		}
	})
	if err != nil {
		cancel(err)
	}
	if err == nil && status.UnreleasedHosts != "" && o.Host > 0 {
		cancel(errOver) // only the log of host 0 announces the end
		<-written
		return status, begun, nil
	}
	logErr := <-written
	j.reported = archive.Reported()
	if end, ended := archive.End(); ended && logErr == nil {
		return end.Status(), begun, nil
	}
	if err == nil {
		return status, begun, logErr
	}
	return status, begun, context.Cause(ctx)
}

// allStored returns how the job ended, and whether the store also has its whole log: the
// runner of a single host stores the log before it records the end. If an earlier attempt was
// killed, or the result has warnings, the pod may have more of the log.
func (j *Job) allStored(ctx context.Context) (api.Status, bool) {
	if j.Handle.Backend != api.BackendGKE || j.Handle.Hosts != 1 || j.Handle.Map != nil {
		return api.Status{}, false
	}
	end, err := j.end(ctx)
	if err != nil || end.By != "runner" || end.Attempt > 1 {
		return api.Status{}, false
	}
	result, err := optional(j.ResultHead(ctx))
	if err != nil || result != nil && len(result.Warnings) > 0 {
		return api.Status{}, false
	}
	return end.Status(), true
}

// archive returns what the store has of the job's log. Every reader of the log makes its own.
func (j *Job) archive() *logs.Archive {
	return &logs.Archive{Store: j.Store, JobID: j.ID(), Chunks: j.Handle.Map != nil, WithoutLog: j.Handle.ByPythonTool()}
}

// Ended returns how the job ended, and whether the store knows that.
func (j *Job) Ended(ctx context.Context) (api.Status, bool) {
	status, err := j.remembered(ctx)
	return status, err == nil && status.State != api.NotFound
}

// Logs writes what the job printed. It reads the store if that has the whole log, else the
// workload if there is one.
func (j *Job) Logs(ctx context.Context, o logs.Options, w display.Streams) error {
	if _, complete := j.allStored(ctx); complete {
		return j.logsOf(ctx, api.Status{State: api.NotFound}, j.archive(), o, w)
	}
	status, err := j.look(ctx)
	if err != nil {
		if _, ended := j.Ended(ctx); !ended || j.Handle.ByPythonTool() {
			return err
		}
		status.State = api.NotFound // the store has all of the log, or all that is left of it
	}
	return j.logsOf(ctx, status, j.archive(), o, w)
}

func (j *Job) logsOf(ctx context.Context, s api.Status, a *logs.Archive, o logs.Options, w display.Streams) error {
	o.Since = timeOf(j.Backend, o.Since)
	if s.State == api.NotFound {
		if j.Handle.ByPythonTool() {
			return fmt.Errorf("the log of job %s was deleted with its pod: keras-kinetic stores none", j.ID())
		}
		o.Hosts, o.Chunks = j.logged()
		return logs.Stored(ctx, j.Store, j.ID(), o, w)
	}
	if !j.Handle.ByPythonTool() {
		o.Hosts, o.Chunks = j.logged()
	}
	return j.Backend.Logs(ctx, j.Handle, a, o, w)
}

// logged returns how many pods have a log, and whether they are the chunks of a map.
func (j *Job) logged() (pods int, chunks bool) {
	if m := j.Handle.Map; m != nil {
		return m.Chunks(), true
	}
	return j.Handle.Hosts, false
}

// Tail returns the last n lines that a host printed, for people: long lines are cut.
func (j *Job) Tail(ctx context.Context, host, n int) (string, error) {
	var b limitedBuffer
	pipe := display.NewPipe(&b) // progress bars in their last state
	err := j.Logs(ctx, logs.Options{Tail: n, Host: host}, display.Cut(pipe.Streams()))
	return b.String(), errors.Join(err, pipe.Close())
}

// limitedBuffer keeps the last part of what is written to it.
type limitedBuffer struct{ data []byte }

const bufferLimit = 256 << 10

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.data = append(b.data, p...)
	if over := len(b.data) - bufferLimit; over > 0 {
		b.data = append(b.data[:0], b.data[over:]...)
	}
	return len(p), nil
}

func (b *limitedBuffer) String() string { return string(b.data) }
