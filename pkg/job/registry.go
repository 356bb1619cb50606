package job

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/records"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Registry is where jobs live: their workloads, and the stores they use.
type Registry struct {
	Backend Backend
	// Kind is that of the backend.
	Kind api.Backend
	// Namespace and Cluster are where workloads are looked for, "" for all of
	// them and for local jobs. Cluster is "" also where its name is only supposed.
	Namespace, Cluster string
	// ClusterID distinguishes the cluster from any other, whatever it is called, and Server is
	// the URL of its API server; "" for local jobs.
	ClusterID, Server string
	// OpenStore opens the store of a workload, by its URL.
	OpenStore func(url string) (store.Store, error)
	// Store is where jobs are looked for that have no workload any more.
	Store store.Store
	// Flags take a command line to this registry, but for the namespace:
	// " --context dev". Empty where no flag does.
	Flags string
}

// Job is the job that a handle describes and whose records are in the usual store.
func (reg Registry) Job(h api.Handle) *Job {
	return &Job{Handle: h, Store: reg.Store, Backend: reg.Backend, Flags: reg.Flags}
}

// NewJob is a job that is to be submitted here.
func (reg Registry) NewJob(s api.Spec) *Job {
	h := api.NewHandle(s)
	h.ClusterName, h.ClusterID, h.Server = reg.Cluster, reg.ClusterID, reg.Server
	if reg.Cluster == "" {
		h.Zone = "" // which is as much supposed
	}
	return reg.Job(h)
}

// list describes the workloads that exist. Those that don't name their store are looked for in
// the usual one.
func (reg Registry) list(ctx context.Context, level api.ListLevel) ([]api.JobSummary, error) {
	found, err := reg.Backend.List(ctx, level)
	return reg.inStores(found), err
}

// inStores are jobs with their stores, but for those that are gone.
func (reg Registry) inStores(found []api.JobSummary) []api.JobSummary {
	found = slices.Clone(found)
	for i := range found {
		if found[i].Store == "" && found[i].Status.State != api.NotFound {
			found[i].Store = reg.Store.URL()
		}
	}
	return found
}

// Exact is the job whose whole id was given and whose handle lies in the usual
// store, which one request says; nil for any other, or when there is doubt.
func (reg Registry) Exact(ctx context.Context, id string) *Job {
	if store.CheckID(id) != nil {
		return nil
	}
	handle, err := readHandle(ctx, reg.Store, id)
	if err != nil {
		return nil
	}
	return reg.Job(handle)
}

// Open is AttachAll for a job that was listed.
func (reg Registry) Open(ctx context.Context, e api.JobSummary) (*Job, error) {
	j := reg.Job(api.Handle{JobID: e.ID, Backend: reg.Kind, Namespace: e.Namespace})
	if e.Store != reg.Store.URL() {
		var err error
		if j.Store, err = reg.OpenStore(e.Store); err != nil {
			return nil, err
		}
	}
	_, err := reg.recall(ctx, j)
	return j, err
}

// recall reads the handle if there is one that can be read, and reports whether there
// was. Only that of a newer version is an error.
func (reg Registry) recall(ctx context.Context, j *Job) (bool, error) {
	handle, err := readHandle(ctx, j.Store, j.ID())
	var newer *api.VersionError
	if errors.As(err, &newer) {
		return false, err
	}
	if err == nil {
		j.Handle = handle
	}
	return err == nil, nil
}

func readHandle(ctx context.Context, s store.Store, id string) (api.Handle, error) {
	data, err := records.ReadBytes(ctx, s, store.Handle(id))
	if err != nil {
		return api.Handle{}, fmt.Errorf("job %s: %w", id, err)
	}
	h, err := api.ParseHandle(data)
	if err != nil {
		return h, fmt.Errorf("job %s: %s/%s: %w", id, s.URL(), store.Handle(id), err)
	}
	if h.JobID != id {
		return h, fmt.Errorf("job %s: %s/%s describes another job, %s; delete it with kubectl kinetic jobs cleanup %s", id, s.URL(), store.Handle(id), h.JobID, id)
	}
	return h, nil
}
