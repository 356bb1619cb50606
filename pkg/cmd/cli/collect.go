package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// Collection says how a result is brought back.
type Collection struct {
	// Cleanup removes the workload and the result afterwards.
	Cleanup bool
	// Raw prints a string without its quotes.
	Raw bool
	// File, when set, gets the value in place of standard output.
	File string
}

// Collect brings the value of a job that succeeded to its reader and, when that
// was written without error, cleans up. The value is never in memory as a
// whole, but for a raw one.
func Collect(ctx context.Context, streams genericiooptions.IOStreams, j *job.Job, c Collection) error {
	if j.Handle.ByPythonTool() {
		return pickled(ctx, j)
	}
	out := c.open(streams.Out)
	err := j.Collect(ctx, out, c.Cleanup, func(r api.Result) error {
		// The value first: on a terminal its line has no end before that.
		if err := out.finish(); err != nil {
			return err
		}
		TellWarnings(streams.ErrOut, j, r)
		return nil
	})
	out.discard()
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("job %s succeeded, and its result was collected and removed already", j.ID())
	case errors.Is(err, syscall.EPIPE):
		return Unread(ctx, streams.ErrOut, j, err)
	}
	return err
}

// TellWarnings says on w in what a value that was printed differs from what the call
// returned, and where that is.
func TellWarnings(w io.Writer, j *job.Job, r api.Result) {
	exact := ""
	if r.Pickle != nil {
		exact = fmt.Sprintf("%s/%s", j.Store.URL(), store.Pickle(j.ID(), *r.Pickle))
	}
	for i, warning := range r.Warnings {
		if exact != "" && i == len(r.Warnings)-1 {
			warning += " (exact value: " + exact + ")"
		}
		fmt.Fprintln(w, "warning: "+ui.Clean(warning))
	}
	if exact != "" && len(r.Warnings) == 0 {
		fmt.Fprintln(w, ui.Clean("exact value, pickled: "+exact))
	}
}

// pickled says of a job of the Python tool where its result lies.
func pickled(ctx context.Context, j *job.Job) error {
	url, err := j.PythonResult(ctx)
	if err != nil {
		return err
	}
	if url == "" {
		return fmt.Errorf("job %s succeeded, and its result was collected and removed already", j.ID())
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
