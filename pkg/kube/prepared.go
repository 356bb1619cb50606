package kube

import (
	"context"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// removePrepared removes the objects that a job's hosts need to find each other if they have no
// owner, because the manifests were applied by hand. What Start creates is owned by the workload,
// and removed with it.
func (c *Cluster) removePrepared(ctx context.Context, h api.Handle) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, r := range diagnose.Extras(h) {
		g.Go(func() error { return c.removeUnowned(ctx, collection{r.GroupVersion(), r.Resource}, h) })
	}
	return g.Wait()
}

// removeUnowned removes an object of a job that has no owner. Without permission it warns that the
// object stays, or may stay, which does no harm.
func (c *Cluster) removeUnowned(ctx context.Context, where collection, h api.Handle) error {
	found, err := c.client.getObject(ctx, where, h.K8sName)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err):
		c.client.transport.Say("%s %s can't be read, so it remains if kubectl created it: %v", where.plural, h.K8sName, err)
		return nil
	case err != nil || len(found.GetOwnerReferences()) > 0 || found.GetLabels()[api.LabelJobID] != h.JobID:
		return err
	}
	err = c.client.removeObject(ctx, where, h.K8sName, found.GetUID(), metav1.DeletePropagationBackground)
	switch {
	case isGone(err):
		return nil
	case apierrors.IsForbidden(err):
		c.client.transport.Say("%s %s was not deleted: %v", where.plural, h.K8sName, err)
		return nil
	}
	return err
}
