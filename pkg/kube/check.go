package kube

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kueue"
	"github.com/kubectl-kinetic/kinetic/pkg/quota"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
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
	err := retry(ctx, func() error {
		data, err := answered(c.client.asJSON(c.client.core.Get(), "/apis", kueue.Version.Group).Do(ctx))
		if err != nil {
			return err
		}
		return json.Unmarshal(data, &group)
	})
	var versions []string
	for _, v := range group.Versions {
		versions = append(versions, v.Version)
	}
	switch {
	case apierrors.IsNotFound(err): // other failures are left to the next request
		c.client.transport.Say("--queue %s has no effect: Kueue is not installed in this cluster", queue)
	case err == nil && !slices.Contains(versions, kueue.Version.Version) && !slices.Contains(versions, kueue.NewerVersion.Version):
		c.client.transport.Say("queue %s: the cluster's Kueue serves %s of its API, not %s or %s: the reason why a job waits is unknown; try a newer kubectl kinetic",
			queue, strings.Join(versions, " and "), kueue.Version.Version, kueue.NewerVersion.Version)
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
	warning, err := quota.Check(quotas.Items, workload)
	if warning != "" {
		c.client.transport.Say("%s", warning)
	}
	return err
}

// checkDrivers finds out early if the cluster lacks the driver of a volume.
func (c *Cluster) checkDrivers(ctx context.Context, workload *unstructured.Unstructured) error {
	for _, driver := range status.Drivers(workload) {
		err := retry(ctx, func() error {
			return c.client.asJSON(c.client.core.Get(), "/apis/storage.k8s.io/v1/csidrivers", driver).Do(ctx).Error()
		})
		switch {
		case apierrors.IsNotFound(err):
			return status.NoDriver(driver)
		case apierrors.IsForbidden(err): // other failures are left to the next request
			c.client.transport.Say("whether this cluster has the driver %s is only known when the job starts: you may not read CSIDrivers", driver)
		}
	}
	return nil
}
