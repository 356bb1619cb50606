package kube

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

// PodName names a pod.
type PodName struct{ Namespace, Name string }

// metricsVersion is the API of Kubernetes for what pods use. A cluster may not have it.
const metricsVersion = "/apis/metrics.k8s.io/v1beta1"

// podMetrics is the part of an answer of the metrics API that matters.
type podMetrics struct {
	Items []struct {
		Metadata   struct{ Namespace, Name string }
		Containers []struct {
			Usage struct{ CPU, Memory resource.Quantity }
		}
	}
}

// Uses returns what the pods of jobs use, from the metrics API of the cluster.
func (c *Cluster) Uses(ctx context.Context) (map[PodName]api.Use, error) {
	path := []string{metricsVersion, "pods"}
	if c.client.namespace != "" {
		path = []string{metricsVersion, "namespaces", c.client.namespace, "pods"}
	}
	var all podMetrics
	if err := c.client.plain.Get(ctx, &all, map[string]string{"labelSelector": joblist.Selector}, path...); err != nil {
		return nil, c.client.explain("list", kind{resource: "pods of metrics.k8s.io"}, "", err)
	}
	uses := map[PodName]api.Use{}
	for _, p := range all.Items {
		cores, bytes := 0.0, int64(0)
		for _, c := range p.Containers {
			cores += c.Usage.CPU.AsApproximateFloat64()
			bytes += c.Usage.Memory.Value()
		}
		uses[PodName{p.Metadata.Namespace, p.Metadata.Name}] = api.Use{CPU: &cores, Memory: &bytes}
	}
	return uses, nil
}

// LacksMetrics reports whether an error of Uses means that a cluster has no metrics API, or none that works.
func LacksMetrics(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err)
}

// longestLine is how much of a pod's last line is read, in bytes.
const longestLine = 4 << 10

// LastLine returns the last line that the call in a pod has printed so far, "" if there is none.
func (c *Cluster) LastLine(ctx context.Context, pod PodName) (string, error) {
	body, err := c.client.openLog(ctx, pod, api.ContainerName, logs.OpenOptions{Tail: 1, Limit: longestLine})
	if err != nil {
		return "", err
	}
	defer body.Close()
	return logs.LastLine(body)
}
