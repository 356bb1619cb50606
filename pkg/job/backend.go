package job

import (
	"context"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/screen"
)

// Backend is what runs jobs: a cluster, or this machine. Of a job it needs no more than the id;
// what else the handle says may save it requests. Where there is no workload, a status is
// NotFound, and the other methods have nothing to do.
type Backend interface {
	// List describes all jobs, in any order. Next to an error it returns those that it could
	// read. A Store that the workload doesn't name is empty.
	List(ctx context.Context, level api.ListLevel) ([]api.JobSummary, error)
	// Pick describes, as List does with their states, the jobs that choose picks. Of all jobs
	// choose gets only what is known at little cost: ID and age, and of jobs that have ended
	// the state. Next to an error Pick may return the picked ones as they are.
	Pick(ctx context.Context, choose func(all []api.JobSummary) []api.JobSummary) ([]api.JobSummary, error)
	// WatchList calls seen with all jobs, then with those that may have changed, until ctx is
	// over, seen fails, or jobs can't be read. One that is gone is NotFound.
	WatchList(ctx context.Context, level api.ListLevel, seen func([]api.JobSummary) error) error
	// Status reads once how a job stands, with what says why it waits.
	Status(ctx context.Context, h api.Handle) (api.WorkloadStatus, error)
	// Watch calls seen with the status at once and on every change, and returns the one that
	// the job ended in.
	Watch(ctx context.Context, h api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error)
	// Inspect describes the hosts that have a pod and, where they are asked for, the
	// disruptions that the backend remembers.
	Inspect(ctx context.Context, h api.Handle, disruptions bool) (api.WorkloadDetail, error)
	// Logs writes what the job printed; with o.Follow until it has ended. a is what the store
	// has of it.
	Logs(ctx context.Context, h api.Handle, a *logs.Archive, o logs.Options, w screen.Streams) error
	// Delete ends the job and removes its workload, with all that came with it.
	Delete(ctx context.Context, h api.Handle, o api.DeleteOptions) error
	// Release frees the hosts that a job holds although it has ended.
	Release(ctx context.Context, h api.Handle, end api.End) error
	// RemoveRunners removes runners that no job needs any more, and returns their names.
	RemoveRunners(ctx context.Context) ([]string, error)
	// ServerTime converts a time of this machine's clock to that of the backend.
	ServerTime(here time.Time) time.Time
}

// timeOf converts a time of this machine's clock to that of a backend. Zero stays zero.
func timeOf(b Backend, here time.Time) time.Time {
	if here.IsZero() {
		return here
	}
	return b.ServerTime(here)
}

// Time converts a time of this machine's clock to that of the place where jobs run. Zero stays
// zero.
func (reg Registry) Time(here time.Time) time.Time { return timeOf(reg.Backend, here) }
