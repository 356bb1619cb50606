package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/verify"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Collection says how to deliver a result.
type Collection struct {
	// Status is how the job ended.
	Status api.Status
	// Cleanup is what to delete afterwards.
	Cleanup Cleanup
	// Raw prints a string without its quotes.
	Raw bool
	// Inputs prints the inputs of a map beside the values.
	Inputs bool
	// File, if set, is written instead of standard output. Of a pickled call, it gets the pickle.
	File string
	// Trust finds out how that pickle must be.
	Trust verify.Verifier
	// WarningLog has the warnings that the log above the value already showed.
	WarningLog *WarningLog
}

// Cleanup is what to delete of a job after its result was delivered: a value of --cleanup.
// The zero value deletes nothing.
type Cleanup string

// The values of --cleanup.
const (
	KeepAll        Cleanup = "false"
	RemoveWorkload Cleanup = "true"
	DeleteResult   Cleanup = "delete" // the workload, the call and the result
)

// CleanupVar adds --cleanup and its completion to a section.
func CleanupVar(s cli.Section, c *Cleanup) {
	*c = RemoveWorkload
	fs := s.Flags
	fs.Var(c, "cleanup", "Clean up after printing the result: true deletes the workload, delete also the stored result and call, false nothing. Failed jobs are kept.")
	fs.Lookup("cleanup").NoOptDefVal = string(RemoveWorkload)
	s.Offer("cleanup", string(RemoveWorkload), string(DeleteResult), string(KeepAll))
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

func (c *Cleanup) String() string { return string(*c) }

// Type implements pflag.Value.
func (c *Cleanup) Type() string { return "cleanup" }

func (c Cleanup) removes() bool { return c == RemoveWorkload || c == DeleteResult }

// apply deletes what c says of a job; a result, only once the caller has it. It returns an
// error, or nil, for each part. seen is called with how many objects of the result are deleted.
func (c Cleanup) apply(ctx context.Context, j *job.Job, seen func(done, total int)) []error {
	if !c.removes() {
		return nil
	}
	if c == DeleteResult {
		if err := cli.Confirmed(ctx); err != nil {
			return []error{fmt.Errorf("the calling program did not confirm that it has the value: %w", err)}
		}
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

// Collect writes the value of a job that succeeded and, if that worked, cleans up. Only a
// raw value is ever in memory as a whole.
func Collect(ctx context.Context, streams genericiooptions.IOStreams, j *job.Job, c Collection) error {
	if j.Handle.ByPythonTool() {
		return pickled(ctx, j)
	}
	if c.takesPickle(j) {
		return c.collectPickle(ctx, streams, j)
	}
	out := c.open(streams.Out)
	defer out.discard()
	result, err := j.Result(ctx, out)
	if err == nil {
		err = out.finish() // before the warnings: on a terminal, the value's line isn't complete until then
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return resultDeleted(j)
	case platform.IsClosedPipe(err):
		return Unread(ctx, streams.ErrOut, j, err)
	case err != nil:
		return err
	}
	PrintWarnings(streams.ErrOut, j, result, c.WarningLog)
	if result.Differs && c.Cleanup == DeleteResult && j.Handle.CallKind == api.CallPickle {
		c.Cleanup = RemoveWorkload // only the pickle, which was not delivered, has the exact value
	}
	SendEnd(streams.ErrOut, j, c.Status, result, nil)
	return collected(ctx, streams.ErrOut, j, c.Cleanup.apply(ctx, j, func(int, int) {}))
}

// resultDeleted is deleted for the result of a call. Python's result() has deleted most of those that Python submitted.
func resultDeleted(j *job.Job) error {
	why := "its result was deleted"
	if j.Handle.CallKind == api.CallPickle {
		why += ": result() in Python deletes what it returns; result(cleanup=False) keeps it"
	}
	return deleted(j, why)
}

func deleted(j *job.Job, why string) error {
	return &cli.Error{Code: cli.ExitFailed, Kind: api.KindMissingResult, Next: describe(j),
		Err: fmt.Errorf("job %s succeeded, but %s", j.ID(), why)}
}

// collected ends a command after the value was delivered, whatever happened to the cleanup:
// each non-nil error is a warning on w. Only an interrupt changes the exit code.
func collected(ctx context.Context, w io.Writer, j *job.Job, errs []error) error {
	if errors.Join(errs...) != nil && ctx.Err() != nil {
		fmt.Fprintf(w, "interrupted; job %s was collected; delete what is left with kubectl kinetic jobs cleanup %s%s\n", j.ID(), j.ID(), j.LocationFlags())
		return cli.Exit(cli.ExitInterrupted)
	}
	for _, err := range errs {
		if err != nil {
			fmt.Fprintf(w, "warning: job %s was collected, but %v\n", j.ID(), ui.Clean(err.Error()))
		}
	}
	return nil
}

// PrintWarnings prints the warnings of a result that the log has not shown yet, and where
// the exact value is if the printed one differs from what the call returned.
func PrintWarnings(w io.Writer, j *job.Job, r api.Result, warnings *WarningLog) {
	for _, warning := range r.Warnings {
		if event.Of(w) == nil && !warnings.Has(warning) {
			fmt.Fprintln(w, "warning: "+ui.Clean(warning))
		}
	}
	if r.Differs && r.Pickle != nil {
		fmt.Fprintln(w, ui.Clean(fmt.Sprintf("exact value, pickled: %s/%s", j.Store.URL(), store.Pickle(j.ID(), *r.Pickle))))
	}
}

// pickled returns an error that says where the result of a job of keras-kinetic is.
func pickled(ctx context.Context, j *job.Job) error {
	url, err := j.PythonResult(ctx)
	if err != nil {
		return err
	}
	if url == "" {
		return resultDeleted(j)
	}
	return &job.PickleError{ID: j.ID(), URL: url}
}

type destination struct {
	w    io.Writer
	file *resultFile   // nil for standard output
	raw  *bytes.Buffer // buffers the value to unquote it; nil for JSON
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

// Write writes a piece of the value's JSON.
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

// Write writes a value that is already in memory.
func (c Collection) Write(stdout io.Writer, value []byte) error {
	out := c.open(stdout)
	defer out.discard()
	if _, err := out.Write(value); err != nil {
		return err
	}
	return out.finish()
}

// finish writes the rest and completes a file, so that the result stays in the store until
// it is safe here.
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

func (d *destination) complete() error {
	if d.file == nil {
		return nil
	}
	if err := d.file.complete(); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// discard abandons a value that was not finished.
func (d *destination) discard() {
	if d.file != nil {
		d.file.discard()
	}
}

// unquoted returns the text of a JSON string, and other JSON unchanged.
func unquoted(value []byte) []byte {
	var s string
	if value[0] == '"' && json.Unmarshal(value, &s) == nil {
		return []byte(s)
	}
	return value
}

// WithTimeout limits waiting; 0 means no limit.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}
