package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// PartLog writes what a part of the Pathways runtime printed: what its container has, or if that is gone, what the store has
// of the last attempt, which is something only if that failed. attempt is the only one to read, 0 for the last.
func (j *Job) PartLog(ctx context.Context, part string, attempt int, follow bool, w io.Writer) error {
	if attempt == 0 {
		err := j.Backend.PartLog(ctx, j.Handle, part, follow, w)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if attempt, err = j.LastAttempt(ctx, api.Status{State: api.NotFound}); err != nil {
			return err
		}
	}
	kept, err := j.Store.Open(ctx, store.PartLog(j.ID(), attempt, part))
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w of %s in attempt %d of job %s: it is only kept if the attempt failed", logs.ErrNoLog, part, attempt, j.ID())
	}
	if err != nil {
		return err
	}
	defer kept.Close()
	_, err = io.Copy(w, kept)
	return err
}
