package job

import (
	"context"
	"errors"
	"io"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/logs"
)

// Follow writes what the job prints until it has ended and all is written, and
// returns how it ended. seen, which may be nil, hears of every change of state.
func (j *Job) Follow(ctx context.Context, o logs.Options, w io.Writer, seen func(api.Status)) (api.Status, error) {
	o.Follow = true
	if seen == nil {
		seen = func(api.Status) {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	written := make(chan error, 1)
	go func() {
		err := j.Logs(ctx, o, w)
		if err != nil {
			cancel(err) // nobody reads any more: stop watching too
		}
		written <- err
	}()
	status, err := j.Wait(ctx, seen)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		cancel(err)
		<-written
		return status, err
	}
	return status, <-written
}

// Logs writes what the job printed: from the workload while there is one, from
// the store afterwards.
func (j *Job) Logs(ctx context.Context, o logs.Options, w io.Writer) error {
	status, err := j.Status(ctx)
	if err != nil {
		return err
	}
	if status.State == api.NotFound {
		return logs.Stored(ctx, j.Store, j.ID(), o, w)
	}
	return j.Workload.Logs(ctx, j.ID(), o, w)
}

// Tail returns the last n lines that the job printed.
func (j *Job) Tail(ctx context.Context, n int) (string, error) {
	var b limitedBuffer
	plain := logs.NewPlain(&b) // progress bars in their last state
	err := j.Logs(ctx, logs.Options{Tail: n, Host: -1}, plain)
	return b.String(), errors.Join(err, plain.Close())
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
