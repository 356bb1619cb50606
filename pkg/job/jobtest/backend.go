// Package jobtest has a job.Backend for tests.
package jobtest

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// Backend is a job.Backend whose jobs all are in one state, and print nothing. The jobs of the zero
// Backend are not found.
type Backend struct {
	// State is that of every job. Those that have not ended stay as they are.
	State api.State
	// Message is what its status says.
	Message string
	// Unseen is the error of every look at a job.
	Unseen error
	// Jobs are listed, next to Unread.
	Jobs   []api.JobSummary
	Unread error
	// Deleted, which may be nil, is called for a job that is deleted.
	Deleted func(api.Handle) error
}

// List implements job.Backend.
func (b Backend) List(context.Context, api.ListLevel) ([]api.JobSummary, error) {
	return slices.Clone(b.Jobs), b.Unread
}

// Pick implements job.Backend.
func (b Backend) Pick(_ context.Context, choose func([]api.JobSummary) []api.JobSummary) ([]api.JobSummary, error) {
	return choose(b.Jobs), b.Unread
}

// WatchList implements job.Backend.
func (b Backend) WatchList(_ context.Context, _ api.ListLevel, seen func([]api.JobSummary) error) error {
	return seen(b.Jobs)
}

// Status implements job.Backend.
func (b Backend) Status(context.Context, api.Handle) (api.WorkloadStatus, error) {
	state := b.State
	if state == "" {
		state = api.NotFound
	}
	return api.WorkloadStatus{Status: api.Status{State: state, Message: b.Message}}, b.Unseen
}

// Watch implements job.Backend.
func (b Backend) Watch(ctx context.Context, h api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	now, err := b.Status(ctx, h)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return now, err
	}
	if seen(now); now.State.Ended() {
		return now, nil
	}
	<-ctx.Done()
	return now, ctx.Err()
}

// Inspect implements job.Backend.
func (Backend) Inspect(context.Context, api.Handle, bool) (api.WorkloadDetail, error) {
	return api.WorkloadDetail{}, nil
}

// Logs implements job.Backend.
func (Backend) Logs(context.Context, api.Handle, *logs.Archive, logs.Options, display.Streams) error {
	return nil
}

// PartLog implements job.Backend.
func (Backend) PartLog(context.Context, api.Handle, string, logs.Options, io.Writer) error {
	return fs.ErrNotExist
}

// Delete implements job.Backend.
func (b Backend) Delete(_ context.Context, h api.Handle, o api.DeleteOptions) error {
	if b.Deleted != nil {
		if err := b.Deleted(h); err != nil {
			return err
		}
	}
	if o.Ending != nil {
		return o.Ending()
	}
	return nil
}

// Release implements job.Backend.
func (Backend) Release(context.Context, api.Handle, api.End) error { return nil }

// RemoveRunners implements job.Backend.
func (Backend) RemoveRunners(context.Context) ([]string, error) { return nil, nil }

// ServerTime implements job.Backend.
func (Backend) ServerTime(here time.Time) time.Time { return here }
