package choice

import (
	"context"
	"errors"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// Registry is where the jobs are looked for.
func (f *Flags) Registry() (job.Registry, error) { return f.RegistryOf(false) }

// RegistryOf is Registry, for all namespaces of a cluster or for one.
func (f *Flags) RegistryOf(allNamespaces bool) (job.Registry, error) {
	if f.Local {
		return f.localRegistry()
	}
	return backend.JobsRegistry(f.Connection, allNamespaces)
}

func (f *Flags) localRegistry() (job.Registry, error) {
	return backend.LocalJobsRegistry(f.Connection)
}

// attach finds the job that a word names.
func (f *Flags) attach(ctx context.Context, id string) (*job.Job, error) {
	if j := f.localJob(ctx, id); j != nil {
		return j, nil
	}
	registry, err := f.Registry()
	if err != nil {
		if j := f.storedJob(ctx, id, err); j != nil {
			return j, nil
		}
		return nil, err
	}
	j, err := registry.Attach(ctx, id)
	return j, unattached(err)
}

// localJob is the local job of exactly this id: ids are unique, so that it can
// be named without --local.
func (f *Flags) localJob(ctx context.Context, id string) *job.Job {
	if f.Local {
		return nil
	}
	registry, err := f.localRegistry()
	if err != nil {
		return nil
	}
	return registry.Exact(ctx, id)
}

// storedJob is the job of exactly this id of which the store knows the end: it needs no
// cluster. why is what is wrong with that.
func (f *Flags) storedJob(ctx context.Context, id string, why error) *job.Job {
	if f.Local {
		return nil
	}
	registry, err := backend.StoredRegistry(f.Connection, why)
	if err != nil {
		return nil
	}
	j := registry.Exact(ctx, id)
	if j == nil {
		return nil
	}
	if _, ended := j.Ended(ctx); !ended {
		return nil
	}
	return j
}

// unattached gives errors about what was typed, or about this program's version,
// their exit code.
func unattached(err error) error {
	var unknown *job.IDError
	var newer *api.VersionError
	if errors.As(err, &unknown) || errors.As(err, &newer) {
		return process.Usage(err)
	}
	return err
}

// Where says where the jobs of a registry are: " in namespace ml".
func Where(registry job.Registry) string {
	switch {
	case registry.Kind == api.BackendLocal:
		return " on this machine"
	case registry.Namespace == "":
		return " in any namespace"
	default:
		return " in namespace " + registry.Namespace
	}
}
