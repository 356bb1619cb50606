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
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/trust"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// Answer is what a pickled call has left.
type Answer struct {
	// Result is without its value.
	Result api.Result
	// Pickle is what the call returned or raised, as it was written to a file; nil for nothing.
	Pickle *SavedPickle
}

// SavedPickle is a pickle in a file of this machine.
type SavedPickle struct {
	// File is an absolute path.
	File string
	trust.Pickle
}

// CheckOutputFile checks that there is a directory for the file of --output-file.
func CheckOutputFile(file string) error {
	if file == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return process.Usagef("--output-file %s: there is no directory %s", file, filepath.Dir(file))
	}
	return nil
}

// takesPickle reports whether the pickle of a job is delivered, and not its JSON.
func (c Collection) takesPickle(j *job.Job) bool {
	return c.File != "" && j.Handle.CallKind == api.CallPickle
}

// savePickle writes what a call returned or raised to the file, if its hash is the one that the
// job reported. A warning about that is printed on w.
func (c Collection) savePickle(ctx context.Context, w io.Writer, j *job.Job) (Answer, error) {
	var a Answer
	var err error
	if a.Result, err = j.ResultHead(ctx); err != nil {
		return a, err
	}
	found, err := c.Trust.Find(ctx, j)
	if err != nil || found == nil {
		return a, err
	}
	if err := found.Save(ctx, j, c.File); err != nil {
		return a, err
	}
	file, err := filepath.Abs(c.File)
	if err != nil {
		return a, err
	}
	if found.Warning != "" {
		fmt.Fprintln(w, "warning: "+ui.Clean(found.Warning))
	}
	a.Pickle = &SavedPickle{file, *found}
	return a, nil
}

// collectPickle writes the pickle of what a call returned and, if that worked, cleans up.
func (c Collection) collectPickle(ctx context.Context, streams genericiooptions.IOStreams, j *job.Job) error {
	answer, err := c.savePickle(ctx, streams.ErrOut, j)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("job %s succeeded, but its result was deleted", j.ID())
	case err != nil && ctx.Err() != nil:
		fmt.Fprintf(streams.ErrOut, "interrupted; job %s keeps its result: kubectl kinetic jobs result %s%s\n", j.ID(), j.ID(), j.LocationFlags())
		return process.Exit(process.ExitInterrupted)
	case err != nil:
		return err
	case answer.Pickle == nil:
		return fmt.Errorf("job %s succeeded, but left no pickle of its value; omit --output-file to print its JSON", j.ID())
	}
	c.tell(answer)
	if !answer.Result.Differs { // else the warnings are about the JSON
		PrintWarnings(streams.ErrOut, j, answer.Result, c.WarningLog)
	}
	return collected(ctx, streams.ErrOut, j, c.Cleanup.apply(ctx, j, func(int, int) {}))
}

// SaveException writes the exception that a call raised to the file, if there is one that can be
// trusted. That it can't is a warning on w: the job has failed all the same.
func (c Collection) SaveException(ctx context.Context, w io.Writer, j *job.Job, s api.Status) {
	if !c.takesPickle(j) || s.Reason != api.Exception {
		return
	}
	answer, err := c.savePickle(ctx, w, j)
	if err != nil {
		fmt.Fprintf(w, "warning: the exception was not written to %s: %s\n", c.File, ui.Clean(err.Error()))
	}
	c.tell(answer)
}

// tell passes on the answer to whoever wants it.
func (c Collection) tell(a Answer) {
	if c.Told != nil {
		c.Told(a)
	}
}
