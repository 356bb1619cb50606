package cli

import (
	"fmt"

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
	workload, err := c.ClusterWorkload(where, namespace, objects)
	if err != nil {
		return job.Place{}, err
	}
	s, err := openStore(where.Store)
	if err != nil {
		return job.Place{}, Usage(err)
	}
	return job.Place{Workload: workload, OfJobs: workload.OfJobs(), Backend: api.BackendGKE, Namespace: namespace, Cluster: knownCluster(where),
		List: listCluster(workload, s.URL()), Watch: watchCluster(workload, s.URL()), RemoveRunners: workload.RemoveRunners, OpenStore: store.Open, Store: s,
		Flags: c.given()}, nil
}

// JobsPlace is the jobs that exist in the cluster's namespace, or in all of them. It
// contacts nothing.
func (c *Connection) JobsPlace(allNamespaces bool) (job.Place, error) {
	where, err := c.ResolveJobs()
	if err != nil {
		return job.Place{}, Usage(err)
	}
	namespace := where.Namespace
	if allNamespaces {
		namespace = ""
	}
	return c.ClusterPlace(where, namespace, nil)
}

// openStore opens the usual store, if there is one.
func openStore(url string) (store.Store, error) {
	if url == "" {
		return store.None(Usage(target.ErrNoStore)), nil
	}
	return store.Open(url)
}

// knownCluster is the name of the GKE cluster, "" where it is only supposed.
func knownCluster(where target.Target) string {
	if where.From.Cluster == "default" {
		return ""
	}
	return where.Cluster
}

// ClusterWorkload is what runs the jobs of a cluster's namespace, without the
// store. It contacts nothing.
func (c *Connection) ClusterWorkload(where target.Target, namespace string, objects []*unstructured.Unstructured) (*kube.Workload, error) {
	config, err := c.REST(where)
	if err != nil {
		return nil, err
	}
	client, err := kube.NewClient(config, namespace, c.tell)
	if err != nil {
		return nil, Usage(fmt.Errorf("%w: %s", err, mendSetting))
	}
	return kube.New(client, objects), nil
}
