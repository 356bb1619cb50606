package backend

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/local"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// listCluster lists the jobs of a cluster. Those that don't tell their store are
// looked for in the usual one.
func listCluster(w *kube.Cluster, usual string) func(context.Context, api.Detail) ([]job.Found, error) {
	return func(ctx context.Context, detail api.Detail) ([]job.Found, error) {
		records, err := w.List(ctx, detail)
		return foundInCluster(records, usual), err
	}
}

func watchCluster(w *kube.Cluster, usual string) func(context.Context, api.Detail, func([]job.Found) error) error {
	return func(ctx context.Context, detail api.Detail, seen func([]job.Found) error) error {
		return w.WatchList(ctx, detail, func(records []kube.Record) error { return seen(foundInCluster(records, usual)) })
	}
}

func foundInCluster(records []kube.Record, usual string) []job.Found {
	found := make([]job.Found, 0, len(records))
	for _, r := range records {
		f := job.Found{ID: r.ID, Namespace: r.Namespace, Store: cmp.Or(r.Store, usual), Function: r.Function,
			Accelerator: r.Accelerator, Hosts: r.Hosts, Map: r.Map, Node: r.Node, Pods: r.Pods, Labels: r.Labels, Created: r.Created, Status: r.Status}
		if r.Python {
			f.Bucket = strings.TrimPrefix(f.Store, store.BucketScheme)
		}
		found = append(found, f)
	}
	return found
}

func listLocal(w *local.Workload) func(context.Context, api.Detail) ([]job.Found, error) {
	return func(ctx context.Context, _ api.Detail) ([]job.Found, error) {
		records, err := w.List(ctx)
		found := make([]job.Found, 0, len(records))
		for _, r := range records {
			found = append(found, job.Found{ID: r.ID, Store: r.Store, Function: r.Name,
				Accelerator: r.Accelerator, Created: r.Created, Status: r.Status})
		}
		return found, err
	}
}

// lookEvery is how often local jobs are looked at: the kernel tells no one
// about processes that aren't one's own children.
const lookEvery = 200 * time.Millisecond

// watchLocal watches local jobs. What can't be read hides no other job, as in a list: warn
// hears of it once.
func watchLocal(w *local.Workload, warn func(error)) func(context.Context, api.Detail, func([]job.Found) error) error {
	list := listLocal(w)
	return func(ctx context.Context, detail api.Detail, seen func([]job.Found) error) error {
		again := time.NewTicker(lookEvery)
		defer again.Stop()
		known, unread := map[string]bool{}, ""
		for first := true; ; first = false {
			found, err := list(ctx, detail)
			switch {
			case err == nil:
				unread = ""
			case ctx.Err() != nil || first && len(found) == 0:
				return err
			case err.Error() != unread:
				unread = err.Error()
				warn(err)
			}
			if err := seen(append(found, gone(known, found)...)); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-again.C:
			}
		}
	}
}

// gone are the jobs that were known and are not found any more; known becomes
// those that were found.
func gone(known map[string]bool, found []job.Found) []job.Found {
	now := map[string]bool{}
	for _, f := range found {
		now[f.ID] = true
	}
	var missing []job.Found
	for id := range known {
		if !now[id] {
			missing = append(missing, job.Found{ID: id, Status: api.Status{State: api.NotFound}})
		}
	}
	clear(known)
	for id := range now {
		known[id] = true
	}
	return missing
}
