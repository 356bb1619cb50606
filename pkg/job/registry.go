package job

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Registry gives access to jobs: to their workloads, and to the stores they use.
type Registry struct {
	Backend Backend
	// Kind is the kind of the backend.
	Kind api.Backend
	// Namespace and Cluster say where to look for workloads. Namespace is "" for all
	// namespaces, Cluster if its name is only a guess, both for local jobs.
	Namespace, Cluster string
	// ClusterID identifies the cluster, whatever its name is, and Server is the URL of its API
	// server; "" for local jobs.
	ClusterID, Server string
	// OpenStore opens the store of a workload, by its URL.
	OpenStore func(url string) (store.Store, error)
	// Store is the usual store, in which to look for jobs without a workload.
	Store store.Store
	// Flags are the flags with which a command finds this registry, except for the
	// namespace: " --context dev". Empty if there are none.
	Flags string
}

// Job returns the job of a handle, with its records in the usual store.
func (reg Registry) Job(h api.Handle) *Job {
	return &Job{Handle: h, Store: reg.Store, Usual: reg.Store.URL(), Backend: reg.Backend, Flags: reg.Flags}
}

// NewJob returns a job that is to be submitted here.
func (reg Registry) NewJob(s api.Spec) *Job {
	h := api.NewHandle(s)
	h.ClusterName, h.ClusterID, h.Server = reg.Cluster, reg.ClusterID, reg.Server
	if reg.Cluster == "" {
		h.Zone = "" // a guess as well
	}
	return reg.Job(h)
}

// list describes the workloads that exist. One that doesn't name its store is assumed to use
// the usual one.
func (reg Registry) list(ctx context.Context, level api.ListLevel) ([]api.JobSummary, error) {
	found, err := reg.Backend.List(ctx, level)
	return reg.inStores(found), err
}

// inStores sets the usual store of jobs that name none and are not gone, in place, and returns them.
func (reg Registry) inStores(found []api.JobSummary) []api.JobSummary {
	for i := range found {
		if found[i].Store == "" && found[i].Status.State != api.NotFound {
			found[i].Store = reg.Store.URL()
		}
	}
	return found
}

// ByID returns the job with this whole id if its handle is in the usual store, with one
// request; nil if it is not, or can't be read.
func (reg Registry) ByID(ctx context.Context, id string) *Job {
	if store.CheckID(id) != nil {
		return nil
	}
	handle, err := readHandle(ctx, reg.Store, id)
	if err != nil {
		return nil
	}
	return reg.Job(handle)
}

// Open returns a listed job. A missing or unreadable handle is no error, except that of a newer version.
func (reg Registry) Open(ctx context.Context, e api.JobSummary) (*Job, error) {
	j := reg.Job(api.Handle{JobID: e.ID, Backend: reg.Kind, Namespace: e.Namespace})
	if e.Store != reg.Store.URL() {
		var err error
		if j.Store, err = reg.OpenStore(e.Store); err != nil {
			return nil, err
		}
	}
	handle, err := readHandle(ctx, j.Store, j.ID())
	if errors.As(err, new(*api.VersionError)) {
		return j, err
	}
	if err == nil {
		j.Handle = handle
	}
	return j, nil
}

func readHandle(ctx context.Context, s store.Store, id string) (api.Handle, error) {
	data, err := records.ReadBytes(ctx, s, store.Handle(id))
	if err != nil {
		return api.Handle{}, fmt.Errorf("job %s: %w", id, err)
	}
	h, err := api.ParseHandle(data)
	if err != nil {
		return api.Handle{}, fmt.Errorf("job %s: %s/%s: %w", id, s.URL(), store.Handle(id), err)
	}
	if h.JobID != id {
		return api.Handle{}, fmt.Errorf("job %s: %s/%s describes another job, %s; delete it with kubectl kinetic jobs cleanup %s", id, s.URL(), store.Handle(id), h.JobID, id)
	}
	return h, nil
}
