package kube

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// ending is what a Job does that was told to end and stays until its pods are gone.
const ending = "ending: saving outputs and logs"

// noticeTime is how long a cluster may take, after the grace of its pods, to see
// that they have ended.
const noticeTime = 15 * time.Second

// Stop tells the job's pods to end, and removes the Job with all it owns. With
// grace the Job stays until its pods are gone, so that everybody sees that
// something still runs, and that is waited for, as long as the pods' own grace
// allows. An error that is api.ErrEnding comes after the job was told to end. No
// Job is an error that is fs.ErrNotExist.
func (w *Workload) Stop(ctx context.Context, id string, grace time.Duration) error {
	s, err := w.client.snapshot(ctx, id)
	if err != nil {
		return err
	}
	if s.job == nil {
		return fmt.Errorf("job %s: there is no Job in namespace %s: %w", id, w.client.namespace, fs.ErrNotExist)
	}
	policy := metav1.DeletePropagationBackground
	if grace > 0 {
		policy = metav1.DeletePropagationForeground
	}
	err = retry(ctx, func() error { return w.client.remove(ctx, w.client.jobs(), s.job.Name, policy) })
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if grace <= 0 {
		return nil
	}
	if err := w.waitGone(ctx, id, max(grace, graceOf(s.list()))+noticeTime); err != nil {
		return fmt.Errorf("job %s: %w: %w", id, api.ErrEnding, err)
	}
	return nil
}

// waitGone waits until nothing is left of a job.
func (w *Workload) waitGone(ctx context.Context, id string, limit time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var left []corev1.Pod
	err := w.client.observe(waiting, id, func(s snapshot) bool {
		left = s.list()
		return s.job == nil && len(left) == 0
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && len(left) > 0 {
		return fmt.Errorf("after %s pod %s is still there; its node may be lost: %s tells", limit, left[0].Name, describePod(left[0]))
	}
	return err
}

// graceOf is the time that pods have from SIGTERM to SIGKILL.
func graceOf(pods []corev1.Pod) time.Duration {
	var longest int64
	for _, p := range pods {
		if g := p.Spec.TerminationGracePeriodSeconds; g != nil {
			longest = max(longest, *g)
		}
	}
	return time.Duration(longest) * time.Second
}
