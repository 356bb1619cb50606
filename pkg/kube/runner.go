package kube

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// createRunner creates the runner's ConfigMap. Jobs share it, so an existing one must have the same
// content. mayGo reports that it is old enough for a cleanup to remove it before the workload
// exists.
func (c *Cluster) createRunner(ctx context.Context, o *unstructured.Unstructured) (mayGo bool, err error) {
	err = c.putRunner(ctx, o)
	if apierrors.IsAlreadyExists(err) || isOverQuota(err) {
		return c.compareRunner(ctx, o, err)
	}
	return false, err
}

// putRunner creates the runner's ConfigMap unless it exists. It asks before: a quota counts, until it is
// computed again, also what is not created because it exists (kubernetes#110080).
func (c *Cluster) putRunner(ctx context.Context, o *unstructured.Unstructured) error {
	_, err := c.create(ctx, o, modeDryRun)
	if apierrors.IsAlreadyExists(err) || isOverQuota(err) || err != nil && !apiserver.Refused(err) {
		return err
	}
	_, err = c.create(ctx, o, modeCreate) // some webhooks refuse just the question
	return err
}

// isOverQuota reports whether a quota has no room for an object. An object that exists gets the same answer.
func isOverQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota: ")
}

// keepRunner creates the runner's ConfigMap again if a cleanup removed it. The job exists by then:
// a failure is reported and does not undo the job.
func (c *Cluster) keepRunner(ctx context.Context, o *unstructured.Unstructured) {
	err := c.putRunner(ctx, o)
	if err != nil && !apierrors.IsAlreadyExists(err) && !isOverQuota(err) && ctx.Err() == nil {
		c.client.transport.Say("warning: cannot check that ConfigMap %s still exists: %v", o.GetName(), err)
	}
}

// compareRunner rejects a ConfigMap that has the name of the runner but other content, which pods
// would run. Without permission to read it, it is not checked. refusal is why it was not created: if that
// is a quota, it may not exist.
func (c *Cluster) compareRunner(ctx context.Context, o *unstructured.Unstructured, refusal error) (mayGo bool, err error) {
	exists := apierrors.IsAlreadyExists(refusal)
	found, err := c.get(ctx, o)
	switch {
	case apierrors.IsForbidden(err) && !exists:
		c.client.transport.Say("warning: unless ConfigMap %s exists already, the job waits for it; %v; %s", o.GetName(), refusal, removingRunners)
		return false, nil
	case apierrors.IsForbidden(err):
		klog.V(1).Infof("ConfigMap %s already exists and could not be compared: %v", o.GetName(), err)
		return true, nil
	case apierrors.IsNotFound(err) && !exists:
		return false, fmt.Errorf("%w; %s", refusal, removingRunners)
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, err
	}
	for _, field := range []string{"data", "binaryData", "immutable"} {
		if !reflect.DeepEqual(found.Object[field], o.Object[field]) {
			return false, fmt.Errorf("ConfigMap %s in %s does not contain the runner it is named after: its %s differs. Pods would run what is in it, so find out who changed it. To continue, delete it with kubectl delete configmap %s -n %s, and submit again",
				o.GetName(), c.client.requested("get", c.client.configMaps()).Scope(), field, o.GetName(), c.client.namespace)
		}
	}
	return c.client.now().Sub(found.GetCreationTimestamp().Time) > runnerAge-time.Hour, nil
}

// removingRunners is what to do if a quota has no room for another ConfigMap.
const removingRunners = "ask an administrator for a larger quota, or to delete the ConfigMaps of old runners (kinetic-runner-…)"

// runnerAge is how old the ConfigMap of a runner must be before it is removed: a client that has
// just created one is about to create a workload.
const runnerAge = 7 * 24 * time.Hour

// RemoveRunners removes the ConfigMaps of runners that are older than a week and are not used by
// any Job, LeaderWorkerSet or pod of the namespace, and returns their names. Without permission it
// says so, and removes none.
func (c *Cluster) RemoveRunners(ctx context.Context) ([]string, error) {
	removed, err := c.removeRunners(ctx)
	if apierrors.IsForbidden(err) {
		c.client.transport.Say("ConfigMaps of old runners were not deleted: %v", err)
		return removed, nil
	}
	return removed, err
}

func (c *Cluster) removeRunners(ctx context.Context) ([]string, error) {
	old, err := c.client.oldRunners(ctx)
	if err != nil || len(old) == 0 {
		return nil, err
	}
	used, err := c.client.usedRunners(ctx)
	if err != nil {
		return nil, err
	}
	var removed []string
	for _, m := range old {
		if used[m.Name] {
			continue
		}
		switch err := c.client.removeUnchanged(ctx, m); {
		case err == nil:
			removed = append(removed, m.Name)
		case !isGone(err):
			return removed, err
		}
	}
	return removed, nil
}

func (c *Client) configMaps() kind {
	return kind{client: c.core, resource: "configmaps", metadata: true}
}

func (c *Client) oldRunners(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	var list metav1.PartialObjectMetadataList
	options := metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=kubectl-kinetic"}
	if err := retry(ctx, func() error { return c.list(ctx, c.configMaps(), options, &list) }); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(m metav1.PartialObjectMetadata) bool {
		return !strings.HasPrefix(m.Name, api.RunnerPrefix) || c.now().Sub(m.CreationTimestamp.Time) < runnerAge
	}), nil
}

// usedRunners returns the names of all ConfigMaps that pods mount or will mount.
func (c *Client) usedRunners(ctx context.Context) (map[string]bool, error) {
	used := map[string]bool{}
	mounted := func(pod corev1.PodSpec) {
		for _, v := range pod.Volumes {
			if v.ConfigMap != nil {
				used[v.ConfigMap.Name] = true
			}
		}
	}
	var jobs batchv1.JobList
	var pods corev1.PodList
	if err := errors.Join(
		retry(ctx, func() error { return c.list(ctx, c.jobs(), metav1.ListOptions{}, &jobs) }),
		retry(ctx, func() error { return c.list(ctx, c.pods(), metav1.ListOptions{}, &pods) })); err != nil {
		return nil, err
	}
	for _, j := range jobs.Items {
		mounted(j.Spec.Template.Spec)
	}
	for _, p := range pods.Items {
		mounted(p.Spec)
	}
	for _, k := range diagnose.Kinds {
		if !k.Optional {
			continue
		}
		templates, err := c.podTemplates(ctx, k)
		if err != nil {
			return nil, err
		}
		for _, template := range templates {
			mounted(template.Spec)
		}
	}
	return used, nil
}

// podTemplates returns the pod templates of all workloads of an optional kind, none if the cluster
// does not have the kind.
func (c *Client) podTemplates(ctx context.Context, k *diagnose.Kind) ([]corev1.PodTemplateSpec, error) {
	var list struct{ Items []map[string]any }
	err := retry(ctx, func() error { return c.plain.Get(ctx, &list, nil, c.workloads(k).collection().path(c.namespace)...) })
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, c.explain("list", c.workloads(k), "", err)
	}
	var templates []corev1.PodTemplateSpec
	for _, workload := range list.Items {
		for _, path := range k.PodTemplates {
			found, _, err := unstructured.NestedMap(workload, path...)
			if err != nil {
				return nil, err
			}
			var template corev1.PodTemplateSpec
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found, &template); err != nil {
				return nil, err
			}
			templates = append(templates, template)
		}
	}
	return templates, nil
}

// removeUnchanged deletes a ConfigMap unless it has been replaced.
func (c *Client) removeUnchanged(ctx context.Context, m metav1.PartialObjectMetadata) error {
	options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &m.UID, ResourceVersion: &m.ResourceVersion}}
	err := retry(ctx, func() error {
		return c.core.Delete().AbsPath(append(c.configMaps().collection().path(c.namespace), m.Name)...).Body(options).Do(ctx).Error()
	})
	return c.explain("delete", c.configMaps(), m.Name, err)
}
