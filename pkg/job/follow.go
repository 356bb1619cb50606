package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/screen"
)

// errOver ends the watching of a job whose log has told that it has ended.
var errOver = errors.New("the log has told the end")

// Follow writes what the job prints until it has ended and all is written, and
// returns how it ended. seen, which may be nil, hears of every change of state.
//
// Whether the job has ended, its workload tells, or the store once the log has
// said so: a cluster knows of a container's end a second or two later. A failed
// job is not left before its cluster knows, for who looks closer to find it so.
//
// A job that has ended needs no cluster where the store has all of its log, nor where the
// cluster can't be asked.
func (j *Job) Follow(ctx context.Context, o logs.Options, w screen.Streams, seen func(api.Status)) (api.Status, error) {
	if end, complete := j.allStored(ctx); complete {
		return end, j.logsOf(ctx, api.Status{State: api.NotFound}, o, w)
	}
	status, begun, err := j.follow(ctx, o, w, seen)
	if err == nil || begun || ctx.Err() != nil || j.Handle.ByPythonTool() {
		return status, err
	}
	end, ended := j.Ended(ctx)
	if !ended {
		return status, err
	}
	return end, j.logsOf(ctx, api.Status{State: api.NotFound}, o, w)
}

// follow is Follow for a job whose workload is asked. begun reports whether that answered.
func (j *Job) follow(ctx context.Context, o logs.Options, w screen.Streams, seen func(api.Status)) (status api.Status, begun bool, err error) {
	o.Follow = true
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var told atomic.Pointer[api.Status] // each of several logs may have the line that tells an end
	o.Ended = func(ctx context.Context) bool {
		s, ended := j.Ended(ctx)
		if ended {
			told.Store(&s)
		}
		return ended
	}
	first := make(chan api.Status, 1)
	written := make(chan error, 1)
	go func() {
		err := j.logsFrom(ctx, first, o, w)
		switch {
		case err != nil:
			cancel(err) // nobody reads any more: stop watching too
		case isSuccess(told.Load()):
			cancel(errOver)
		}
		written <- err
	}()
	status, err = j.waitForWorkload(ctx, func(s api.Status) {
		begun = true
		select {
		case first <- s:
		default:
		}
		if seen != nil {
			seen(s)
		}
	})
	if err != nil {
		cancel(err)
	}
	if err == nil && status.Holding != "" && o.Host > 0 {
		cancel(errOver) // the log of host 0 would tell, this one does not
		<-written
		return status, begun, nil
	}
	if logErr := <-written; told.Load() != nil && logErr == nil {
		return *told.Load(), begun, nil
	} else if err == nil {
		return status, begun, logErr
	}
	return status, begun, context.Cause(ctx)
}

// allStored returns how the job ended if the store has all of its log as well: the runner of a
// single host stores the log before it records the end. Of an earlier attempt that was killed,
// or where the result has warnings, the pod may have more.
func (j *Job) allStored(ctx context.Context) (api.Status, bool) {
	if j.Handle.Backend != api.BackendGKE || j.Handle.Hosts != 1 || j.Handle.Map != nil {
		return api.Status{}, false
	}
	end, err := j.end(ctx)
	if err != nil || end.By != "runner" || end.Attempt > 1 {
		return api.Status{}, false
	}
	result, err := optional(j.resultHead(ctx))
	if err != nil || result != nil && len(result.Warnings) > 0 {
		return api.Status{}, false
	}
	return end.Status(), true
}

func isSuccess(end *api.Status) bool { return end != nil && end.State == api.Succeeded }

// Ended is how the job ended, and whether the store tells that.
func (j *Job) Ended(ctx context.Context) (api.Status, bool) {
	status, err := j.remembered(ctx)
	return status, err == nil && status.State != api.NotFound
}

// logsFrom is Logs for a job whose first status comes from elsewhere.
func (j *Job) logsFrom(ctx context.Context, first <-chan api.Status, o logs.Options, w screen.Streams) error {
	select {
	case status := <-first:
		return j.logsOf(ctx, status, o, w)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Logs writes what the job printed: from the store where that has all of it, else from the
// workload while there is one.
func (j *Job) Logs(ctx context.Context, o logs.Options, w screen.Streams) error {
	if _, complete := j.allStored(ctx); complete {
		return j.logsOf(ctx, api.Status{State: api.NotFound}, o, w)
	}
	status, err := j.look(ctx)
	if err != nil {
		if _, ended := j.Ended(ctx); !ended || j.Handle.ByPythonTool() {
			return err
		}
		status.State = api.NotFound // the store has all of the log, or all that is left of it
	}
	o.Ended = func(ctx context.Context) bool {
		_, ended := j.Ended(ctx)
		return ended
	}
	return j.logsOf(ctx, status, o, w)
}

func (j *Job) logsOf(ctx context.Context, s api.Status, o logs.Options, w screen.Streams) error {
	o.Since = timeOf(j.Workload, o.Since)
	if s.State == api.NotFound {
		if j.Handle.ByPythonTool() {
			return fmt.Errorf("the log of job %s went with its pod: the Python tool stores none", j.ID())
		}
		o.Hosts, o.Chunks = j.logged()
		return logs.Stored(ctx, j.Store, j.ID(), o, w)
	}
	if !j.Handle.ByPythonTool() {
		o.Hosts, o.Chunks = j.logged()
		o.Rest, o.Attempts = j.restOfLogs(), func(ctx context.Context) ([]api.Attempt, error) { return j.attemptsOf(ctx, o.Host) }
	}
	if o.Attempt > 0 && o.Attempts != nil && (!o.Chunks || o.Host >= 0) {
		attempts, err := o.Attempts(ctx)
		if err != nil {
			return err
		}
		if len(attempts) > 0 && o.Attempt < attempts[len(attempts)-1].Attempt {
			return logs.Stored(ctx, j.Store, j.ID(), o, w) // its pod is gone, or going
		}
	}
	return j.Workload.Logs(ctx, j.ID(), o, w)
}

// logged is how many pods the job has a log of, and whether they are the chunks of
// a map.
func (j *Job) logged() (pods int, chunks bool) {
	if m := j.Handle.Map; m != nil {
		return m.Chunks(), true
	}
	return j.Handle.Hosts, false
}

// restOfLogs makes what writes the part of the log of a pod that the store has. It is
// asked again and again while a job goes on.
func (j *Job) restOfLogs() func(context.Context, logs.Point, io.Writer) (logs.Point, error) {
	var numbers sync.Map // of attempts, by the UIDs of their pods
	return func(ctx context.Context, p logs.Point, w io.Writer) (logs.Point, error) {
		number, known := numbers.Load(p.Pod)
		if !known {
			attempts, err := j.attemptsOf(ctx, p.Host)
			if err != nil {
				return p, err
			}
			for _, a := range attempts {
				numbers.Store(a.UID, a.Attempt)
			}
			if number, known = numbers.Load(p.Pod); !known {
				return p, nil // it never came to its call
			}
		}
		return logs.Attempt{Store: j.Store, JobID: j.ID(), Number: number.(int)}.Rest(ctx, p, w)
	}
}

// Tail returns the last n lines that a host printed, for people: long ones are cut.
func (j *Job) Tail(ctx context.Context, host, n int) (string, error) {
	var b limitedBuffer
	pipe := screen.NewPipe(&b) // progress bars in their last state
	err := j.Logs(ctx, logs.Options{Tail: n, Host: host}, screen.Cut(pipe.Streams()))
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
