package job

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/records"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Found is a workload that exists.
type Found struct {
	ID          string
	Namespace   string // empty for a local job
	Store       string // URL
	Function    string
	Accelerator string
	// Bucket is that of a job of the Python package, "" for any other.
	Bucket string
	// Hosts is how many there are at a time, 0 where that is not known.
	Hosts int
	// Map says that the job calls its function once for each of many inputs.
	Map     bool
	Node    string
	Pods    []string // the newest of each host
	Labels  map[string]string
	Created time.Time
	Status  api.Status
}

// Place is where jobs live: their workloads, and the stores they use.
type Place struct {
	Workload Workload
	// OfJobs is Workload for what is known to be a Job of Kubernetes: to look for one
	// takes no right to see LeaderWorkerSets. nil where there is no difference.
	OfJobs Workload
	// Backend is that of the workloads.
	Backend api.Backend
	// Namespace and Cluster are where workloads are looked for, "" for all of
	// them and for local jobs. Cluster is "" also where its name is only supposed.
	Namespace, Cluster string
	// ClusterID distinguishes the cluster from any other, whatever it is called, and Server is
	// the URL of its API server; "" for local jobs.
	ClusterID, Server string
	// List says which workloads exist, in any order. Next to an error it gives
	// those that it could read.
	List func(ctx context.Context, detail api.Detail) ([]Found, error)
	// Watch calls seen with all workloads, then with those that may have
	// changed, until ctx is over, seen fails, or the place can't be read. One
	// that is gone is NotFound.
	Watch func(ctx context.Context, detail api.Detail, seen func([]Found) error) error
	// RemoveRunners removes runners that no job needs any more, and returns their
	// names; nil where jobs share none.
	RemoveRunners func(ctx context.Context) ([]string, error)
	// OpenStore opens the store of a workload, by its URL.
	OpenStore func(url string) (store.Store, error)
	// Store is where jobs are looked for that have no workload any more.
	Store store.Store
	// Flags take a command line to this place, but for the namespace:
	// " --context dev". Empty where no flag does.
	Flags string
}

// Job is the job that a handle describes and whose records are in the usual store.
func (p Place) Job(h api.Handle) *Job {
	return &Job{Handle: h, Store: p.Store, Workload: p.workloadOf(h), Flags: p.Flags}
}

// NewJob is a job that is to be submitted here.
func (p Place) NewJob(s api.Spec) *Job {
	h := api.NewHandle(s)
	h.ClusterName, h.ClusterID, h.Server = p.Cluster, p.ClusterID, p.Server
	if p.Cluster == "" {
		h.Zone = "" // which is as much supposed
	}
	return p.Job(h)
}

// workloadOf is what runs the job that a handle describes.
func (p Place) workloadOf(h api.Handle) Workload {
	if p.OfJobs != nil && strings.HasPrefix(h.K8sName, api.JobNamePrefix) {
		return p.OfJobs
	}
	return p.Workload
}

// Exact is the job whose whole id was given and whose handle lies in the usual
// store, which one request says; nil for any other, or when there is doubt.
func (p Place) Exact(ctx context.Context, id string) *Job {
	if store.CheckID(id) != nil {
		return nil
	}
	handle, err := readHandle(ctx, p.Store, id)
	if err != nil {
		return nil
	}
	return p.Job(handle)
}

// Open is AttachAll for a job that was listed.
func (p Place) Open(ctx context.Context, e Entry) (*Job, error) {
	j := p.Job(api.Handle{JobID: e.ID, Backend: p.Backend, Namespace: e.Namespace})
	if e.Store != p.Store.URL() {
		var err error
		if j.Store, err = p.OpenStore(e.Store); err != nil {
			return nil, err
		}
	}
	_, err := p.recall(ctx, j)
	return j, err
}

// recall reads the handle if there is one that can be read, and reports whether there
// was. Only that of a newer version is an error.
func (p Place) recall(ctx context.Context, j *Job) (bool, error) {
	handle, err := readHandle(ctx, j.Store, j.ID())
	var newer *api.VersionError
	if errors.As(err, &newer) {
		return false, err
	}
	if err == nil {
		j.Handle, j.Workload = handle, p.workloadOf(handle)
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
