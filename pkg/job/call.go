package job

import (
	"context"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/records"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Call is what the job runs. The store has it until the result is deleted.
func (j *Job) Call(ctx context.Context) (api.Call, error) {
	return records.Read[api.Call](ctx, j.Store, store.Call(j.ID()))
}
