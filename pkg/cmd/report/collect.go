package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// Collection says how a result is brought back.
type Collection struct {
	// Cleanup is what goes afterwards.
	Cleanup Cleanup
	// Raw prints a string without its quotes.
	Raw bool
	// File, when set, gets the value in place of standard output.
	File string
	// Heard is what the log has told that stands above the value.
	Heard *Heard
}

// Cleanup is what is removed of a job when its result has reached its reader: a value of
// --cleanup. The zero value removes nothing.
type Cleanup string

// The values of --cleanup.
const (
	KeepAll        Cleanup = "false"
	RemoveWorkload Cleanup = "true"
	DeleteResult   Cleanup = "delete" // the workload, the call and the result
)

// CleanupVar defines --cleanup.
func CleanupVar(fs *pflag.FlagSet, c *Cleanup) {
	*c = RemoveWorkload
	fs.Var(c, "cleanup", "Clean up after printing the result, by `MODE`: true deletes the workload; delete also the stored result and call; false nothing. Failed jobs are kept.")
	fs.Lookup("cleanup").NoOptDefVal = string(RemoveWorkload)
}

// Set implements pflag.Value.
func (c *Cleanup) Set(s string) error {
	if s == string(DeleteResult) {
		*c = DeleteResult
		return nil
	}
	remove, err := strconv.ParseBool(s)
	if err != nil {
		return errors.New("expected true, false or delete")
	}
	*c = KeepAll
	if remove {
		*c = RemoveWorkload
	}
	return nil
}

// String implements pflag.Value.
func (c *Cleanup) String() string { return string(*c) }

// Type implements pflag.Value.
func (c *Cleanup) Type() string { return "cleanup" }

// removes reports whether anything goes.
func (c Cleanup) removes() bool { return c == RemoveWorkload || c == DeleteResult }

// apply removes what is to go of a job, and returns an error for each part that stays, which
// may be nil. seen hears how many objects of its result are gone.
func (c Cleanup) apply(ctx context.Context, j *job.Job, seen func(done, total int)) []error {
	if !c.removes() {
		return nil
	}
	errs := []error{j.Retire(ctx)}
	if c != DeleteResult {
		return errs
	}
	if err := j.DeleteResult(ctx, seen); err != nil {
		errs = append(errs, fmt.Errorf("its call and result could not be deleted: %w; delete all that is left with: kubectl kinetic jobs cleanup %s%s",
			err, j.ID(), j.LocationFlags()))
	}
	return errs
}

// Collect brings the value of a job that succeeded to its reader and, when that
// was written without error, cleans up. The value is never in memory as a
// whole, but for a raw one.
func Collect(ctx context.Context, streams genericiooptions.IOStreams, j *job.Job, c Collection) error {
	if j.Handle.ByPythonTool() {
		return pickled(ctx, j)
	}
	out := c.open(streams.Out)
	defer out.discard()
	result, err := j.Result(ctx, out)
	if err == nil {
		err = out.finish() // before the warnings: on a terminal the value's line has no end until then
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("job %s succeeded, but its result was deleted", j.ID())
	case errors.Is(err, syscall.EPIPE):
		return Unread(ctx, streams.ErrOut, j, err)
	case err != nil:
		return err
	}
	TellWarnings(streams.ErrOut, j, result, c.Heard)
	return collected(ctx, streams.ErrOut, j, c.Cleanup.apply(ctx, j, func(int, int) {}))
}

// collected ends a command whose reader has the value, whatever has become of the removal of
// the rest: each of errs that isn't nil is a warning on w. Only an interrupt is told by the
// exit code.
func collected(ctx context.Context, w io.Writer, j *job.Job, errs []error) error {
	if errors.Join(errs...) != nil && ctx.Err() != nil {
		fmt.Fprintf(w, "interrupted; job %s was collected; delete what is left with kubectl kinetic jobs cleanup %s%s\n", j.ID(), j.ID(), j.LocationFlags())
		return process.Exit(process.ExitInterrupted)
	}
	for _, err := range errs {
		if err != nil {
			fmt.Fprintf(w, "warning: job %s was collected, but %v\n", j.ID(), ui.Clean(err.Error()))
		}
	}
	return nil
}

// TellWarnings says on w what a call has lost, unless the log has told it, in what a value
// that was printed differs from what the call returned, and where that is.
func TellWarnings(w io.Writer, j *job.Job, r api.Result, heard *Heard) {
	for _, warning := range r.Warnings {
		if !heard.Has(warning) {
			fmt.Fprintln(w, "warning: "+ui.Clean(warning))
		}
	}
	if r.Differs && r.Pickle != nil {
		fmt.Fprintln(w, ui.Clean(fmt.Sprintf("exact value, pickled: %s/%s", j.Store.URL(), store.Pickle(j.ID(), *r.Pickle))))
	}
}

// pickled says of a job of the Python package where its result lies.
func pickled(ctx context.Context, j *job.Job) error {
	url, err := j.PythonResult(ctx)
	if err != nil {
		return err
	}
	if url == "" {
		return fmt.Errorf("job %s succeeded, but its result was deleted", j.ID())
	}
	return &job.PickleError{ID: j.ID(), URL: url}
}

// destination is where a value is written to.
type destination struct {
	w    io.Writer
	file *resultFile   // nil for standard output
	raw  *bytes.Buffer // holds the value until it can be unquoted; nil for JSON
	some bool
}

func (c Collection) open(stdout io.Writer) *destination {
	d := &destination{w: stdout}
	if c.Raw {
		d.raw = &bytes.Buffer{}
	}
	if c.File != "" {
		d.file = &resultFile{name: c.File}
		d.w = d.file
	}
	return d
}

// Write takes a piece of the value's JSON.
func (d *destination) Write(p []byte) (int, error) {
	d.some = d.some || len(p) > 0
	if d.raw != nil {
		return d.raw.Write(p)
	}
	return d.write(p)
}

func (d *destination) write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	if err != nil {
		err = fmt.Errorf("writing the result: %w", err)
	}
	return n, err
}

// Write brings a value that is here already to its reader.
func (c Collection) Write(stdout io.Writer, value []byte) error {
	out := c.open(stdout)
	defer out.discard()
	if _, err := out.Write(value); err != nil {
		return err
	}
	return out.finish()
}

// finish writes what is missing, and completes a file, so that the result is not
// removed from the store before it is safe here.
func (d *destination) finish() error {
	end := []byte{'\n'}
	switch {
	case !d.some:
		end = []byte("null\n")
	case d.raw != nil:
		end = append(unquoted(d.raw.Bytes()), '\n')
	}
	if _, err := d.write(end); err != nil {
		return err
	}
	return d.complete()
}

// complete gives a file its name.
func (d *destination) complete() error {
	if d.file == nil {
		return nil
	}
	if err := d.file.complete(); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// discard ends the writing of what was not finished.
func (d *destination) discard() {
	if d.file != nil {
		d.file.discard()
	}
}

// unquoted is the text of a JSON string, and any other JSON as it is.
func unquoted(value []byte) []byte {
	var s string
	if value[0] == '"' && json.Unmarshal(value, &s) == nil {
		return []byte(s)
	}
	return value
}

// WithTimeout bounds waiting; 0 is no bound.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}
