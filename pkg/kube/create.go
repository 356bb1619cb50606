package kube

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Start creates the job's objects, then the Secret that it owns. A Job of this
// name that is there already is an error that is fs.ErrExist. A start that fails
// leaves nothing that runs.
func (w *Workload) Start(ctx context.Context, spec api.Spec, secrets map[string]string) error {
	job, shared, err := w.split()
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	for _, o := range shared {
		g.Go(func() error { return w.ensure(gctx, o) })
	}
	var made *batchv1.Job
	g.Go(func() (err error) {
		made, err = w.createJob(gctx, job)
		return err
	})
	err = g.Wait()
	if err == nil && len(secrets) > 0 {
		err = w.createSecret(ctx, spec, made, secrets)
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return errors.Join(err, w.undo(ctx, job.Name))
}

// undo makes sure that a start that failed leaves no Job: without an answer to
// its creation nobody knows whether there is one.
func (w *Workload) undo(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	err := retry(ctx, func() error { return w.client.remove(ctx, w.client.jobs(), name) })
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("the job may have been created and could not be removed: %w", errors.Join(api.ErrMayRun, err))
}

// undoTime bounds what a failed start costs on top.
const undoTime = 10 * time.Second

// split finds the Job among the objects; the others may be shared with other jobs.
func (w *Workload) split() (*batchv1.Job, []*unstructured.Unstructured, error) {
	var job *batchv1.Job
	var shared []*unstructured.Unstructured
	for _, o := range w.objects {
		if o.GetKind() != "Job" || o.GetLabels()[api.LabelJobID] == "" {
			shared = append(shared, o)
			continue
		}
		job = &batchv1.Job{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, job); err != nil {
			return nil, nil, fmt.Errorf("reading Job %s: %w", o.GetName(), err)
		}
	}
	if job == nil {
		return nil, nil, errors.New("there is no Job among the objects to apply")
	}
	return job, shared, nil
}

// ensure creates an object unless it is there.
func (w *Workload) ensure(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GetKind() != "ConfigMap" || o.GetAPIVersion() != "v1" {
		return fmt.Errorf("%s %s: this version applies Jobs and ConfigMaps; for others use --prepare and kubectl apply", o.GetKind(), o.GetName())
	}
	var cm corev1.ConfigMap
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &cm); err != nil {
		return fmt.Errorf("reading ConfigMap %s: %w", o.GetName(), err)
	}
	err := retry(ctx, func() error {
		return w.client.create(ctx, w.client.configMaps(), cm.Name, &cm, &corev1.ConfigMap{})
	})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// createJob creates the Job. When an answer was lost, the Job that is there may
// be the one that was just asked for.
func (w *Workload) createJob(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	made := &batchv1.Job{}
	tries := 0
	err := retry(ctx, func() error {
		tries++
		return w.client.create(ctx, w.client.jobs(), job.Name, job, made)
	})
	if err == nil {
		return made, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	if tries > 1 {
		if w.client.get(ctx, w.client.jobs(), job.Name, made) == nil && sameCall(made, job) {
			return made, nil
		}
	}
	return nil, fmt.Errorf("job %s: %w", job.Name, errors.Join(fs.ErrExist, err))
}

// sameCall tells whether two Jobs run the same call of the same job.
func sameCall(a, b *batchv1.Job) bool {
	return reflect.DeepEqual(a.Spec.Template.Spec.Containers[0].Args, b.Spec.Template.Spec.Containers[0].Args)
}

// createSecret makes the Secret that the Job's pod waits for, owned by the Job.
func (w *Workload) createSecret(ctx context.Context, spec api.Spec, owner *batchv1.Job, values map[string]string) error {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: spec.SecretName(), Namespace: owner.Namespace, Labels: owner.Labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: owner.Name, UID: owner.UID}},
		},
		StringData: values,
	}
	err := retry(ctx, func() error {
		return w.client.create(ctx, w.client.secrets(), secret.Name, secret, &corev1.Secret{})
	})
	if apierrors.IsAlreadyExists(err) {
		return nil // a retry after a lost answer
	}
	return err
}
