package kube

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

// checkKueue warns about a job for a queue if the cluster has no queues, so that the job's label
// means nothing, or has a version of Kueue that is too new. That a queue doesn't exist is said
// while the job waits in it.
func (c *Cluster) checkKueue(ctx context.Context, workload *unstructured.Unstructured) {
	queue := workload.GetLabels()[api.LabelQueue]
	if queue == "" {
		return
	}
	var group metav1.APIGroup
	err := c.read(ctx, &group, "/apis", kueue.Version.Group)
	switch {
	case apierrors.IsNotFound(err): // other failures are left to the next request
		c.client.transport.Say("--queue %s has no effect: Kueue is not installed in this cluster", queue)
	case err == nil && kueue.UnknownVersions(group) != "":
		c.client.transport.Say("queue %s: Kueue in this cluster serves version %s of its API, not %s or %s, so kinetic can't show why a job waits; try a newer kubectl kinetic",
			queue, kueue.UnknownVersions(group), kueue.Version.Version, kueue.NewerVersion.Version)
	}
}

// checkQuotas checks early whether the quotas of the namespace let a job run. It is an error if they
// never will. Without permission to read quotas, the user hears of them when a pod is refused.
func (c *Cluster) checkQuotas(ctx context.Context, workload *unstructured.Unstructured) error {
	var quotas corev1.ResourceQuotaList
	err := c.client.list(ctx, kind{client: c.client.core, resource: "resourcequotas"}, metav1.ListOptions{}, &quotas)
	if err != nil {
		return nil //nolint:nilerr // the server itself refuses what doesn't fit
	}
	warning, err := checkQuotas(quotas.Items, workload)
	if warning != "" {
		c.client.transport.Say("%s", warning)
	}
	return err
}

// CheckVolumes finds out, before anything is sent, whether the cluster has the claims and the
// StorageClass that the flags of a job name. A job without them causes no request.
func (c *Cluster) CheckVolumes(ctx context.Context, s api.Spec) error {
	return c.volumes().CheckFlags(ctx, s)
}

func (c *Cluster) volumes() volumeChecker {
	return volumeChecker{Namespace: c.client.namespace, Get: c.read, Say: c.client.transport.Say}
}

// read reads an object of any kind, as JSON.
func (c *Cluster) read(ctx context.Context, into any, path ...string) error {
	return retry(ctx, func() error { return c.client.plain.Get(ctx, into, nil, path...) })
}
