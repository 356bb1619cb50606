package job

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Value is what a listed job has returned, as far as a list shows it.
type Value struct {
	// JSON is the value, nil if there is none, or if it is too large.
	JSON []byte
	// Size is the number of bytes of a result that is too large.
	Size int64
	// Inputs is the progress of a map, whose values are too many for a list; nil for other jobs.
	Inputs *records.MapProgress
	// Err is why the value could not be read.
	Err error
}

// maxValue is the largest value that a list shows, in bytes.
const maxValue = 64 << 10

// valuesAtATime is how many values are in memory at the same time.
const valuesAtATime = 4 * Parallel

// Values reads the values of listed jobs that have succeeded, and passes all jobs to seen with them, some at a time, in
// their order. It stops at an error of seen.
func (reg Registry) Values(ctx context.Context, entries []api.JobSummary, seen func([]api.JobSummary, []Value) error) error {
	more := reg.additions()
	defer more.close()
	for some := range slices.Chunk(entries, valuesAtATime) {
		values := make([]Value, len(some))
		parallel.Each(Parallel, some, func(i int, e api.JobSummary) {
			if e.Word() == string(api.Succeeded) && !e.Workload.ByPythonTool {
				values[i] = readValue(ctx, more.storeAt(e.Store), e)
			}
		})
		if err := errors.Join(ctx.Err(), seen(some, values)); err != nil {
			return err
		}
	}
	return nil
}

// readValue reads the value of a job. One that was deleted is no error.
func readValue(ctx context.Context, s store.Store, e api.JobSummary) Value {
	if e.Map {
		return readProgress(ctx, s, e.ID)
	}
	var value limited
	_, err := records.Result(ctx, s, store.Result(e.ID), &value)
	switch {
	case errors.Is(err, errTooLarge):
		found, err := records.Find(ctx, s, store.Result(e.ID))
		return Value{Size: found.Size, Err: err}
	case errors.Is(err, store.ErrNotFound): // some backends list a map like any other job
		return readProgress(ctx, s, e.ID)
	}
	return Value{JSON: value.Bytes(), Err: err}
}

// readProgress reads how many inputs of a map have a result. It returns the zero Value for another job.
func readProgress(ctx context.Context, s store.Store, id string) Value {
	h, err := readHandle(ctx, s, id)
	if errors.Is(err, store.ErrNotFound) {
		return Value{}
	}
	if err != nil {
		return Value{Err: err}
	}
	progress, err := (&Job{Handle: h, Store: s}).Progress(ctx)
	return Value{Inputs: progress, Err: err}
}

var errTooLarge = errors.New("the value is too large")

// limited takes a value up to the limit. More is errTooLarge, so that the rest is not read.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxValue {
		return 0, errTooLarge
	}
	return l.Buffer.Write(p)
}
