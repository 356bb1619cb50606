package kube

import (
	"context"
	"encoding/base64"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// secretOf returns the Secret that the job's pods wait for.
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

// putSecret creates a Secret, and replaces one that --prepare created, or a start that was cut off.
// This needs no permission to read it. Another submit of the same job may create its own in between.
func (c *Cluster) putSecret(ctx context.Context, secret *unstructured.Unstructured) error {
	for try := 1; ; try++ {
		_, err := c.create(ctx, secret, modeCreate)
		if !apierrors.IsAlreadyExists(err) || try > maxConflicts {
			return err
		}
		err = c.client.removeObject(ctx, c.collectionOf(secret), secret.GetName(), "", metav1.DeletePropagationBackground)
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
}

// putSecrets creates the Secret of a job. Without permission the job still runs, but without a key,
// unless its hosts wait for the key. A quota or a policy that refuses the Secret is an error.
// taken means that another submit of the job came first: its Secret then stays,
// because running hosts can have its key, and this submit is refused.
func (s *Submission) putSecrets(ctx context.Context, secret *unstructured.Unstructured, values map[string]string, taken bool) error {
	put := s.putSecret
	if taken {
		put = s.share
	}
	err := put(ctx, secret)
	_, hasKey := values[api.Contract.Names.GroupKey]
	if hasKey && len(values) == 1 && !s.keyComes && apiserver.LacksRight(err) {
		s.client.transport.Say("no permission to create the Secret %s, with which the hosts of the job authenticate each other: they run without it", secret.GetName())
		return nil
	}
	return err
}

// share creates an object unless it exists.
func (c *Cluster) share(ctx context.Context, o *unstructured.Unstructured) error {
	_, err := c.create(ctx, o, modeCreate)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// maxConflicts is how often another submit of the same job may interfere.
const maxConflicts = 10

// removeSecret removes the Secret that Prepare created, if there is one. The Secret of a job that
// was started is removed with its workload. A missing permission is no error if the Secret only has
// the key of the job's hosts.
func (c *Cluster) removeSecret(ctx context.Context, h api.Handle) error {
	where := collection{schema.GroupVersion{Version: "v1"}, "secrets"}
	err := c.client.removeObject(ctx, where, api.Spec{ID: h.JobID}.SecretName(), "", metav1.DeletePropagationBackground)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) && len(h.SecretEnv) == 0 {
		return nil
	}
	return err
}
