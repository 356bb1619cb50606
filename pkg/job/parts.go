package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// PartLog writes what a part of the Pathways runtime printed. With attempt 0, it reads the container or, if that is gone, what
// the store has of the last attempt; else what the store has of that attempt. The store has something only of attempts that
// failed.
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
		return fmt.Errorf("attempt %d of job %s has no log of %s: it is kept only if the attempt fails", attempt, j.ID(), part)
	}
	if err != nil {
		return err
	}
	defer kept.Close()
	_, err = io.Copy(w, kept)
	return err
}
