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

// putSecret makes a Secret, instead of one that --prepare made, or a start
// that was cut off. No one needs the right to read it for that. Another submit of
// the same job may make its own in between.
func (c *Cluster) putSecret(ctx context.Context, secret *unstructured.Unstructured) error {
	where := c.collectionOf(secret)
	for try := 1; ; try++ {
		err := retry(ctx, func() error {
			_, err := c.client.createObject(ctx, where, secret, modeCreate)
			return err
		})
		if !apierrors.IsAlreadyExists(err) || try > maxConflicts {
			return err
		}
		err = retry(ctx, func() error {
			return c.client.removeObject(ctx, where, secret.GetName(), "", metav1.DeletePropagationBackground)
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
}

// putSecrets makes the Secret of a job. Without the right to make one the job still
// runs, only without a key, unless its hosts were told to wait for it. taken says that
// another submit of the job was there before: hosts that run may have the key of its
// Secret, which then stays.
func (s *Submission) putSecrets(ctx context.Context, secret *unstructured.Unstructured, values map[string]string, taken bool) error {
	put := s.putSecret
	_, hasKey := values[api.EnvGroupKey]
	if hasKey && taken {
		put = s.share
	}
	err := put(ctx, secret)
	if hasKey && len(values) == 1 && !s.keyComes && apierrors.IsForbidden(err) {
		s.client.transport.Say("you may not create the Secret %s, with which the hosts of the job authenticate each other: they run without it", secret.GetName())
		return nil
	}
	return err
}

// share makes an object unless it is there.
func (c *Cluster) share(ctx context.Context, o *unstructured.Unstructured) error {
	err := retry(ctx, func() error {
		_, err := c.client.createObject(ctx, c.collectionOf(o), o, modeCreate)
		return err
	})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// maxConflicts is how many submits of the same job may get in each other's way.
const maxConflicts = 10

// removeSecret removes the Secret that Prepare made, if there is one. That of a
// job which was started goes with its Job. Who may not remove a Secret may have made a job
// whose own has only the key of its hosts.
func (c *Cluster) removeSecret(ctx context.Context, h api.Handle) error {
	where := collection{schema.GroupVersion{Version: "v1"}, "secrets"}
	err := retry(ctx, func() error {
		return c.client.removeObject(ctx, where, api.Spec{ID: h.JobID}.SecretName(), "", metav1.DeletePropagationBackground)
	})
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) && len(h.SecretEnv) == 0 {
		return nil
	}
	return err
}
