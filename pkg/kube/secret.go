package kube

import (
	"context"
	"encoding/base64"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// secretOf is the Secret that the job's pod waits for.
func secretOf(spec api.Spec, job *unstructured.Unstructured, values map[string]string) *unstructured.Unstructured {
	data := make(map[string]any, len(values))
	for name, value := range values {
		data[name] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "data": data}}
	secret.SetName(spec.SecretName())
	secret.SetNamespace(job.GetNamespace())
	secret.SetLabels(job.GetLabels())
	return secret
}

// putSecret makes a Secret, in the place of one that --prepare made, or a start
// that was cut off. Nobody needs the right to read it for that. Another submit of
// the same job may make its own in between.
func (w *Workload) putSecret(ctx context.Context, secret *unstructured.Unstructured) error {
	where := w.collectionOf(secret)
	for try := 1; ; try++ {
		err := retry(ctx, func() error {
			_, err := w.client.createObject(ctx, where, secret, modeCreate)
			return err
		})
		if !apierrors.IsAlreadyExists(err) || try > rivals {
			return err
		}
		err = retry(ctx, func() error {
			return w.client.removeObject(ctx, where, secret.GetName(), "", metav1.DeletePropagationBackground)
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
}

// rivals is how many submits of the same job may get in each other's way.
const rivals = 10

// RemoveSecret removes the Secret that Prepare made, if there is one. That of a
// job which was started goes with its Job.
func (w *Workload) RemoveSecret(ctx context.Context, id string) error {
	where := collection{schema.GroupVersion{Version: "v1"}, "secrets"}
	err := retry(ctx, func() error {
		return w.client.removeObject(ctx, where, api.Spec{ID: id}.SecretName(), "", metav1.DeletePropagationBackground)
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
