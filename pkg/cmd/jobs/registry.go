package jobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// Registry returns the place to search for jobs.
func (f *jobFlags) Registry() (job.Registry, error) {
	if f.Local {
		return backend.LocalJobsRegistry(f.Connection)
	}
	registry, _, err := backend.JobsRegistry(f.Connection, f.AllNamespaces)
	return registry, err
}

// localJobs returns the local jobs with exactly these IDs, nil for any other. They need no --local,
// unless a flag chooses a cluster, where another job may have the same ID.
func (f *jobFlags) localJobs(ctx context.Context, ids []string) []*job.Job {
	jobs := make([]*job.Job, len(ids))
	if f.Local || f.Connection.ChooseCluster() {
		return jobs
	}
	registry, err := backend.LocalJobsRegistry(f.Connection)
	if err != nil {
		return jobs
	}
	for i, id := range ids {
		jobs[i] = registry.ByID(ctx, id)
	}
	return jobs
}

// notFound marks errors about the typed ID and about this program's version as usage errors.
func notFound(err error) error {
	if errors.As(err, new(*job.IDError)) || errors.As(err, new(*api.VersionError)) {
		return cli.Usage(err)
	}
	return err
}

// noJobs returns the error that a filter chooses no job of a registry. It is a job.ErrNoJob.
func noJobs(filter job.Filter, registry job.Registry) error {
	if filter.Chooses() {
		return fmt.Errorf("%w%s that match", job.ErrNoJob, inPlace(registry))
	}
	return fmt.Errorf("%w%s", job.ErrNoJob, inPlace(registry))
}

// inPlace returns the location of a registry's jobs for a message, such as " in namespace ml".
func inPlace(registry job.Registry) string {
	switch {
	case registry.Kind == api.BackendLocal:
		return " on this machine"
	case registry.Namespace == "":
		return " in any namespace"
	default:
		return " in namespace " + registry.Namespace
	}
}
