package cli

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/target"
)

// ClusterPlace is the jobs of a cluster's namespace; "" is all namespaces, for
// listing. objects are those of the job that will be started, if there is one.
// It contacts nothing.
func (c *Connection) ClusterPlace(where target.Target, namespace string, objects []*unstructured.Unstructured) (job.Place, error) {
	config, err := c.REST(where)
	if err != nil {
		return job.Place{}, err
	}
	client, err := kube.NewClient(config, namespace, c.tell)
	if err != nil {
		return job.Place{}, err
	}
	s, err := store.Open(where.Store)
	if err != nil {
		return job.Place{}, Usage(err)
	}
	workload := kube.New(client, objects)
	return job.Place{Workload: workload, Backend: api.BackendGKE, Store: s, OpenStore: store.Open, List: listCluster(workload, s.URL())}, nil
}

func listCluster(w *kube.Workload, defaultStore string) func(context.Context) ([]job.Found, error) {
	return func(ctx context.Context) ([]job.Found, error) {
		records, err := w.List(ctx)
		found := make([]job.Found, 0, len(records))
		for _, r := range records {
			found = append(found, job.Found{ID: r.ID, Namespace: r.Namespace, Store: cmp.Or(r.Store, defaultStore), Function: r.Function,
				Accelerator: r.Accelerator, Created: r.Created, Status: r.Status})
		}
		return found, err
	}
}
