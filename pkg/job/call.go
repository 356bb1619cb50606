package job

import (
	"context"
	"io"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/records"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Call is what the job runs. The store has it until the result is deleted.
func (j *Job) Call(ctx context.Context) (api.Call, error) {
	return records.Read[api.Call](ctx, j.Store, store.Call(j.ID()))
}

// Result reads the job's result, all but its value, which may be large; that is
// written to value, as JSON, while it is read. ErrNotFound where there is none:
// it was deleted, or the job never came so far.
func (j *Job) Result(ctx context.Context, value io.Writer) (api.Result, error) {
	return records.Result(ctx, j.Store, store.Result(j.ID()), value)
}

// resultHead is Result without the value, which is not read.
func (j *Job) resultHead(ctx context.Context) (api.Result, error) {
	return records.ResultHead(ctx, j.Store, store.Result(j.ID()))
}

// HasValue reports whether there is a value to print.
func (j *Job) HasValue(ctx context.Context) (bool, error) {
	result, err := optional(j.resultHead(ctx))
	return result != nil && result.OK, err
}
