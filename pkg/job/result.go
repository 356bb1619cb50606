package job

import (
	"context"
	"fmt"
	"io"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Call returns what the job runs. The store keeps it until the result is deleted.
func (j *Job) Call(ctx context.Context) (api.Call, error) {
	return records.Read[api.Call](ctx, j.Store, store.Call(j.ID()))
}

// Result reads the job's result without its value, which may be large: that is written to
// value as JSON while it is read. If the result was deleted, or the job did not get that
// far, the error is store.ErrNotFound.
func (j *Job) Result(ctx context.Context, value io.Writer) (api.Result, error) {
	return records.Result(ctx, j.Store, store.Result(j.ID()), value)
}

// ResultHead is Result, but does not read the value.
func (j *Job) ResultHead(ctx context.Context) (api.Result, error) {
	return records.ResultHead(ctx, j.Store, store.Result(j.ID()))
}

// HasValue reports whether there is a value to print.
func (j *Job) HasValue(ctx context.Context) (bool, error) {
	result, err := optional(j.ResultHead(ctx))
	return result != nil && result.OK, err
}

// Results returns the results of a map. Any other job has none.
func (j *Job) Results() records.MapResults {
	r := records.MapResults{Store: j.Store, JobID: j.ID()}
	if m := j.Handle.Map; m != nil {
		r.Inputs = m.Inputs
	}
	return r
}

// Progress counts the results of a map. It returns nil for any other job, and for a map whose
// values were all deleted.
func (j *Job) Progress(ctx context.Context) (*records.MapProgress, error) {
	if j.Handle.Map == nil {
		return nil, nil
	}
	p, err := j.Results().Progress(ctx)
	if err != nil {
		return nil, j.unreadable(err)
	}
	if deleted, err := j.noneLeft(ctx, p); deleted || err != nil {
		return nil, err
	}
	return &p, nil
}

// States returns the states of a map's inputs, given that of the job. It returns nil as Progress
// does. An input without a result is RUNNING once a pod has begun its chunk.
func (j *Job) States(ctx context.Context, s api.Status) (*records.MapStates, error) {
	if j.Handle.Map == nil {
		return nil, nil
	}
	rest := func(int) api.State { return WithoutResult(s) }
	if s.State == api.Running {
		begun, err := j.Results().Begun(ctx)
		if err != nil {
			return nil, err
		}
		rest = func(input int) api.State {
			if chunk, computed := j.Handle.Map.ChunkOf(input); computed && begun[chunk] {
				return api.Running
			}
			return api.Pending
		}
	}
	states, err := j.Results().States(ctx, rest)
	if err != nil {
		return nil, j.unreadable(err)
	}
	if deleted, err := j.noneLeft(ctx, states.MapProgress); deleted || err != nil {
		return nil, err
	}
	return &states, nil
}

// NoInputResult says why an input of a map that has ended failed although it has no result.
const NoInputResult = "it has no result: the job ended before it was stored"

// WithoutResult returns the state of an input of a map that has no result, given that of the job:
// if that is known to have ended, nothing will store one. Inputs of a cancelled map are gone, as the map is.
func WithoutResult(s api.Status) api.State {
	if s.State == api.Succeeded || s.Ended != "" && s.Ended != api.CancelledWord {
		return api.Failed
	}
	return s.State
}

// noneLeft reports whether a map with this progress has ended, and all its values were deleted.
func (j *Job) noneLeft(ctx context.Context, p records.MapProgress) (bool, error) {
	if p.Done > 0 {
		return false, nil
	}
	return j.ValuesDeleted(ctx)
}

func (j *Job) unreadable(err error) error {
	return fmt.Errorf("reading the results of job %s: %w", j.ID(), err)
}

// ValuesDeleted reports whether all results of a map that succeeded were deleted.
func (j *Job) ValuesDeleted(ctx context.Context) (bool, error) {
	end, err := optional(j.end(ctx))
	if err != nil || end == nil || end.State != api.Succeeded {
		return false, err
	}
	exist, err := j.Results().Exist(ctx)
	return err == nil && !exist, err
}
