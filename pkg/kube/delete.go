package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// noticeTime is how long a cluster may take to notice that pods have ended, after their grace
// period.
const noticeTime = 15 * time.Second

// podTime is how much longer each pod may take: controllers create and remove 20 pods a second, and
// do both for a job that is cancelled while it starts.
const podTime = 200 * time.Millisecond

// Delete makes sure that a job has no workload, and no object that was created for it without an
// owner. This is needed even if the job could not be stopped.
func (c *Cluster) Delete(ctx context.Context, h api.Handle, o api.DeleteOptions) error {
	if o.Ending == nil {
		o.Ending = func() error { return nil }
	}
	if err := c.stop(ctx, h, o.Grace, o.Ending); err != nil {
		return err
	}
	err := c.removePrepared(ctx, h)
	if !o.Secret || len(h.SecretEnv) == 0 && h.Hosts <= 1 {
		return err
	}
	return errors.Join(err, c.removeSecret(ctx, h))
}

// stop ends the job's pods, and removes the workload with everything it owns. With grace, the
// workload stays until its pods are gone, so that everyone can see that something is still
// running. stop waits for that as long as the pods' own grace period allows. ending is called once
// the cluster has accepted the removal.
func (c *Cluster) stop(ctx context.Context, h api.Handle, grace time.Duration, ending func() error) error {
	s, err := c.client.snapshot(ctx, h)
	if err != nil && isOwnName(h) {
		return c.stopUnseen(ctx, h, ending, err)
	}
	if err != nil {
		return err
	}
	if !s.Exists() {
		return c.removeOrphans(ctx, h, s.list())
	}
	policy := metav1.DeletePropagationBackground
	if grace > 0 {
		policy = metav1.DeletePropagationForeground
	}
	err = c.client.removeObject(ctx, c.client.workloads(s.Kind()).collection(), s.Meta().Name, s.Meta().UID, policy)
	if err != nil && !isGone(err) {
		return err
	}
	unrecorded := ending()
	if grace <= 0 {
		return unrecorded
	}
	if err := c.waitGone(ctx, h, s.Workload, deleteTimeout(s, grace)); err != nil {
		return errors.Join(unrecorded, fmt.Errorf("job %s was asked to end, but this could not be confirmed: %w", h.JobID, err))
	}
	return unrecorded
}

// stopUnseen is stop for a job whose objects can't all be read, for the given reason: it removes the workload by its name,
// without waiting for the pods.
func (c *Cluster) stopUnseen(ctx context.Context, h api.Handle, ending func() error, why error) error {
	kind := diagnose.LeaderWorkerSet
	if isJob(h) {
		kind = diagnose.Job
	}
	err := c.client.removeObject(ctx, c.client.workloads(kind).collection(), h.K8sName, "", metav1.DeletePropagationBackground)
	if err != nil {
		return errors.Join(why, err)
	}
	return errors.Join(ending(), fmt.Errorf("job %s was asked to end, but this could not be confirmed: %w", h.JobID, why))
}

// isOwnName reports whether the name of the workload follows from the job's ID. A handle comes from a bucket, to which
// others may write: it must not name another job's workload.
func isOwnName(h api.Handle) bool {
	for _, queue := range []string{"", "any"} { // the names in queues are shorter
		s := api.Spec{ID: h.JobID, Placement: api.Placement{Backend: h.Backend, Queue: queue}}
		if h.K8sName == s.JobName() {
			return true
		}
	}
	return false
}

// removeOrphans deletes the pods that a Job has left because whoever deleted it wanted that, with
// kubectl delete --cascade=orphan: nothing owns them, and nothing else would end them.
func (c *Cluster) removeOrphans(ctx context.Context, h api.Handle, pods []corev1.Pod) error {
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil || metav1.GetControllerOf(&pod) != nil {
			continue
		}
		err := c.client.removeObject(ctx, collection{corev1.SchemeGroupVersion, "pods"}, pod.Name, pod.UID, metav1.DeletePropagationBackground)
		if err != nil && !isGone(err) {
			return fmt.Errorf("job %s: its Job was deleted without its pods (delete them with kubectl delete pods -n %s -l %s=%s): %w",
				h.JobID, c.client.namespace, api.LabelJobID, h.JobID, err)
		}
	}
	return nil
}

// Release scales the LeaderWorkerSet of a job that has ended to zero, and records the end on it in
// the same step: its runner may not have been allowed to. It is no error if the LeaderWorkerSet
// no longer exists.
func (c *Cluster) Release(ctx context.Context, h api.Handle, end api.End) error {
	s, err := c.client.snapshot(ctx, h)
	if err != nil || !s.Exists() || !s.Kind().ScaledToZero {
		return err
	}
	end.Version = api.EndVersion
	text, err := json.Marshal(end)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": s.Meta().UID, "annotations": map[string]string{api.Contract.Names.Outcome: string(text)}},
		"spec":     map[string]int{"replicas": 0},
	})
	if err != nil {
		return err
	}
	kind := c.client.workloads(s.Kind())
	err = retry(ctx, func() error {
		return kind.client.Patch(types.MergePatchType).Namespace(s.Meta().Namespace).Resource(kind.resource).Name(s.Meta().Name).
			Body(patch).Do(ctx).Error()
	})
	if isGone(err) || isAnother(err) {
		return nil
	}
	return c.client.explain("patch", kind, s.Meta().Name, err)
}

// isAnother reports whether a patch with a UID failed because another object has the name now.
func isAnother(err error) bool {
	cause, found := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	return found && cause.Field == "metadata.uid"
}

func deleteTimeout(s snapshot, grace time.Duration) time.Duration {
	pods := s.list()
	n := max(len(pods), s.Hosts(pods))
	return max(grace, diagnose.Grace(pods)) + noticeTime + time.Duration(n)*podTime
}

func (c *Cluster) waitGone(ctx context.Context, h api.Handle, was diagnose.Workload, limit time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var left []corev1.Pod
	parts := slices.DeleteFunc(c.client.ofJob(h), func(s selection) bool { return s.kind.rare && s.kind.workload != was.Kind() })
	err := c.client.observe(waiting, h, parts, func(s snapshot) bool {
		left = s.list()
		return !s.Exists() && len(left) == 0
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && len(left) > 0 {
		return fmt.Errorf("after %s, pod %s still exists; its node may be lost; see %s", limit, left[0].Name, diagnose.DescribePod(left[0]))
	}
	return err
}
