package status

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/api/container/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/stack"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

// reading collects what several requests answer.
type reading struct {
	c *stack.Base
	e *stack.Stack

	mu    sync.Mutex
	s     status
	pools map[string]joblist.Pool // nil if they are not known
	jobs  []api.JobSummary        // nil if they are not known
	now   time.Time               // by the cluster's clock
}

// all reads everything. What can't be read, but for the cluster, is reported in the status.
func (r *reading) all(ctx context.Context) (*container.Cluster, error) {
	n := r.e.Names
	sizes := make([]google.Size, 2)
	var buckets sync.WaitGroup
	for i, name := range []string{n.Jobs(), n.Builds()} {
		buckets.Go(func() {
			size, err := r.e.Project.BucketSize(ctx, name)
			sizes[i] = size
			r.report(err)
		})
	}
	found, err := r.e.Cluster.Read(ctx)
	switch {
	case err != nil || found == nil:
	case found.Status == "PROVISIONING":
		r.report(fmt.Errorf("nodes and jobs are not known: the cluster is being created: wait until it runs, then repeat: kubectl kinetic status%s", r.e.GKE().Flags()))
	default:
		r.report(r.inside(ctx))
	}
	buckets.Wait()
	r.s.Buckets = slices.DeleteFunc(sizes, func(s google.Size) bool { return !s.Exists })
	return found, err
}

// Inside reads what the cluster itself knows. Nodes and jobs are usually not known for the same reason, so the
// error has one.
func (r *reading) inside(ctx context.Context) error {
	config, err := r.e.Connect(ctx)
	if err != nil {
		return r.unknown("nodes and jobs", err)
	}
	var nodes, jobs error
	var both sync.WaitGroup
	both.Go(func() { r.pools, nodes = joblist.ReadUsage(ctx, config, r.c.Connection.Notice) })
	both.Go(func() { jobs = r.list(ctx, config) })
	both.Wait()
	switch {
	case nodes != nil && jobs != nil:
		return r.unknown("nodes and jobs", nodes)
	case nodes != nil:
		return r.unknown("nodes", nodes)
	case jobs != nil:
		return r.unknown("jobs", jobs)
	}
	return nil
}

// unknown says why something is not known, and what finds the cause.
func (r *reading) unknown(what string, err error) error {
	return fmt.Errorf("%s are not known: %w; to find the cause: kubectl kinetic doctor%s", what, err, r.e.GKE().Flags())
}

func (r *reading) list(ctx context.Context, config *rest.Config) error {
	all, err := joblist.Read(ctx, config, r.c.Connection.Notice)
	if err != nil {
		return err
	}
	r.jobs, r.now = all.Jobs, r.c.Clock.Now().Add(all.Ahead)
	r.s.Running, r.s.Waiting = joblist.IDs(all.Jobs, api.Running), joblist.IDs(all.Jobs, api.Pending)
	if all.LeftOut != nil {
		r.report(r.unknown("jobs on several hosts", all.LeftOut))
	}
	return nil
}

func (r *reading) report(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.s.Errors = append(r.s.Errors, err.Error())
}
