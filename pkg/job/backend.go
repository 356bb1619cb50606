package job

import (
	"context"
	"io"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// Backend runs jobs: a cluster, or this machine. It needs only the id from a handle; the other
// fields may save requests. If a job has no workload, its status is NotFound, and the other
// methods do nothing.
type Backend interface {
	// List describes all jobs that have a workload, in any order. With an error it returns the jobs that it could
	// read. Store is empty if the workload doesn't name it. The caller may change the list.
	List(ctx context.Context, level api.ListLevel) ([]api.JobSummary, error)
	// Pick describes the jobs that choose picks, as List does with states, at least the first. choose gets all
	// jobs with only what is cheap to read: the ID, the age and, where the backend knows it
	// without reading the job, the state of those that have ended. Pick returns other jobs, and with an error
	// maybe all, as choose got them.
	Pick(ctx context.Context, choose func(all []api.JobSummary) []api.JobSummary) ([]api.JobSummary, error)
	// WatchList calls seen with all jobs, then with those that may have changed, until ctx is
	// done, seen fails, or jobs can't be read. A job whose workload is gone is NotFound.
	WatchList(ctx context.Context, level api.ListLevel, seen func([]api.JobSummary) error) error

	// Status reads the status of a job once, with why it waits.
	Status(ctx context.Context, h api.Handle) (api.WorkloadStatus, error)
	// Watch calls seen with the status, at once and on every change, and returns the status
	// in which the job ended.
	Watch(ctx context.Context, h api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error)
	// Inspect describes the hosts that have a pod and, if disruptions is true, the
	// disruptions that the backend remembers.
	Inspect(ctx context.Context, h api.Handle, disruptions bool) (api.WorkloadDetail, error)

	// Logs writes what the job printed; with o.Follow, until the job has ended. a reads what
	// the store has of the log.
	Logs(ctx context.Context, h api.Handle, a *logs.Archive, o logs.Options, w display.Streams) error
	// PartLog writes what a part of the Pathways runtime printed, from the last o.Tail lines on; with o.Follow, until its
	// container ends. The error is fs.ErrNotExist if there is no such container.
	PartLog(ctx context.Context, h api.Handle, part string, o logs.Options, w io.Writer) error

	// Delete ends the job and removes its workload and everything that belongs to it.
	Delete(ctx context.Context, h api.Handle, o api.DeleteOptions) error
	// Release frees the hosts that a job holds although it has ended.
	Release(ctx context.Context, h api.Handle, end api.End) error
	// RemoveRunners removes runners that no job needs, and returns their names.
	RemoveRunners(ctx context.Context) ([]string, error)

	// ServerTime converts a time of this machine's clock to the backend's clock.
	ServerTime(here time.Time) time.Time
}

// timeOf converts a time of this machine's clock to a backend's clock. Zero stays zero.
func timeOf(b Backend, here time.Time) time.Time {
	if here.IsZero() {
		return here
	}
	return b.ServerTime(here)
}

// Time converts a time of this machine's clock to the backend's clock. Zero stays zero.
func (reg Registry) Time(here time.Time) time.Time { return timeOf(reg.Backend, here) }
