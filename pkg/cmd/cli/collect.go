package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
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
// was written without error, cleans up.
func Collect(ctx context.Context, streams genericiooptions.IOStreams, j *job.Job, c Collection) error {
	write := func(r api.Result) error {
		for _, w := range r.Warnings {
			fmt.Fprintln(streams.ErrOut, "warning: "+w)
		}
		if r.Pickle != nil {
			fmt.Fprintf(streams.ErrOut, "the exact value stays, pickled, in %s/%s\n", j.Store.URL(), store.Pickle(j.ID(), *r.Pickle))
		}
		if c.File != "" {
			return writeFile(c.File, valueText(r, c.Raw))
		}
		return writeAll(streams.Out, valueText(r, c.Raw))
	}
	err := j.Collect(ctx, c.Cleanup, write)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("job %s succeeded, and its result was collected and removed already", j.ID())
	}
	return err
}

// valueText is the value as it is printed.
func valueText(r api.Result, raw bool) []byte {
	value := []byte(r.Value)
	if len(value) == 0 {
		value = []byte("null")
	}
	var s string
	if raw && json.Unmarshal(value, &s) == nil && value[0] == '"' {
		value = []byte(s)
	}
	return append(value, '\n')
}

func writeAll(w io.Writer, data []byte) error {
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// writeFile writes and flushes to the disk, so that the result is not removed
// from the store before it is safe here.
func writeFile(name string, data []byte) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := writeAll(f, data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // a pipe or a device has nothing to sync
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// WithTimeout bounds waiting; 0 is no bound.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}
