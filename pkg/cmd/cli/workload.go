package cli

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/target"
)

// ClusterWorkload is what runs the jobs of a cluster's namespace. objects are
// those of the job that will be started, if there is one. It contacts nothing.
func (c *Connection) ClusterWorkload(where target.Target, namespace string, objects []*unstructured.Unstructured) (*kube.Workload, error) {
	config, err := c.REST(where)
	if err != nil {
		return nil, err
	}
	client, err := kube.NewClient(config, namespace, c.tell)
	if err != nil {
		return nil, err
	}
	return kube.New(client, objects), nil
}
