package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// PartLog writes what a part of the Pathways runtime printed, from the last o.Tail lines on. Without o.Attempt, it reads the
// container or, if that is gone, what the store has of the last attempt; else what the store has of that attempt. The store
// has something only of attempts that failed.
func (j *Job) PartLog(ctx context.Context, part string, o logs.Options, w io.Writer) error {
	attempt := o.Attempt
	if attempt == 0 {
		err := j.Backend.PartLog(ctx, j.Handle, part, o, w)
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
	text, err := io.ReadAll(kept) // a megabyte at most
	if err != nil {
		return err
	}
	_, err = w.Write(lastLines(text, o.Tail))
	return err
}

// lastLines returns the last lines of a text, all of them for a negative number.
func lastLines(text []byte, number int) []byte {
	lines := slices.Collect(bytes.Lines(text))
	if number < 0 || number >= len(lines) {
		return text
	}
	return bytes.Join(lines[len(lines)-number:], nil)
}
