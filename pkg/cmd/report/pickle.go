package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// CheckOutputFile checks that there is a directory for the file of --output-file.
func CheckOutputFile(file string) error {
	if file == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return cli.Usagef("--output-file %s: there is no directory %s", file, filepath.Dir(file))
	}
	return nil
}

// takesPickle reports whether the pickle of a job is delivered, and not its JSON.
func (c Collection) takesPickle(j *job.Job) bool {
	return c.File != "" && j.Handle.CallKind == api.CallPickle
}

// savePickle writes what a call returned or raised to the file, if its hash is the one that the
// job reported. A warning about that is printed on w. It returns the result without its value,
// and where the pickle is, nil if there is none.
func (c Collection) savePickle(ctx context.Context, w io.Writer, j *job.Job) (api.Result, *event.Pickle, error) {
	head, err := j.ResultHead(ctx)
	if err != nil {
		return head, nil, err
	}
	found, err := c.Trust.Find(ctx, j)
	if err != nil || found == nil {
		return head, nil, err
	}
	if err := found.Save(ctx, j, c.File); err != nil {
		return head, nil, err
	}
	file, err := filepath.Abs(c.File)
	if err != nil {
		return head, nil, err
	}
	if found.Warning != "" {
		fmt.Fprintln(w, "warning: "+ui.Clean(found.Warning))
	}
	return head, &event.Pickle{File: file, SHA256: found.SHA256, Size: found.Size, Trust: string(found.Source)}, nil
}

// collectPickle writes the pickle of what a call returned and, if that worked, cleans up.
func (c Collection) collectPickle(ctx context.Context, streams genericiooptions.IOStreams, j *job.Job) error {
	result, pickle, err := c.savePickle(ctx, streams.ErrOut, j)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return resultDeleted(j)
	case err != nil && ctx.Err() != nil:
		again := fmt.Sprintf("kubectl kinetic jobs result %s%s", j.ID(), j.LocationFlags())
		text := fmt.Sprintf("interrupted; job %s keeps its result", j.ID())
		return cli.Error{Code: cli.ExitInterrupted, Err: errors.New(text), Next: again}.In(streams.ErrOut, text+": "+again)
	case err != nil:
		return err
	case pickle == nil:
		return fmt.Errorf("job %s succeeded, but left no pickle of its value; omit --output-file to print its JSON", j.ID())
	}
	result.Warnings = result.Warnings[min(result.JSONWarnings, len(result.Warnings)):] // nobody reads the JSON
	result.Differs = false
	PrintWarnings(streams.ErrOut, j, result, c.WarningLog)
	SendEnd(streams.ErrOut, j, c.Status, result, pickle)
	return collected(ctx, streams.ErrOut, j, c.Cleanup.apply(ctx, j, func(int, int) {}))
}

// SaveException writes the exception that a call raised to the file, if there is one that can be
// trusted, and returns where it is. That it can't is a warning on w: the job has failed all the
// same.
func (c Collection) SaveException(ctx context.Context, w io.Writer, j *job.Job) *event.Pickle {
	if !c.takesPickle(j) || c.Status.Reason != api.Exception {
		return nil
	}
	_, pickle, err := c.savePickle(ctx, w, j)
	if err != nil {
		fmt.Fprintf(w, "warning: the exception was not written to %s: %s\n", c.File, ui.Clean(err.Error()))
	}
	return pickle
}
