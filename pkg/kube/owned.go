package kube

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// own creates an object that is removed with its owner. If other jobs own it already, it is removed
// with the last of them. If someone else created it, it stays.
func (c *Cluster) own(ctx context.Context, o *unstructured.Unstructured, owner metav1.OwnerReference) error {
	with := o.DeepCopy()
	with.SetOwnerReferences(append(o.GetOwnerReferences(), owner))
	found, existed, err := c.ensure(ctx, with, modeCreate)
	err = withoutPolicy(o, err)
	if err != nil || !existed || !ownedByJobs(found) || ownedBy(found, owner.UID) {
		return err
	}
	return c.client.addOwner(ctx, c.collectionOf(o), o.GetName(), owner)
}

// withoutPolicy adds to an error about a job's NetworkPolicy how to run the job without one.
func withoutPolicy(o *unstructured.Unstructured, err error) error {
	if apierrors.IsForbidden(err) && o.GetKind() == "NetworkPolicy" && o.GetLabels()[api.LabelJobID] != "" {
		return fmt.Errorf("%w; or use --no-network-policy; then any pod that reaches the runtime can use the chips", err)
	}
	return err
}

// isRelease reports whether an object is the Role or the RoleBinding that allows the leader of a
// workload to scale it to zero.
func isRelease(o *unstructured.Unstructured, workload *unstructured.Unstructured) bool {
	return diagnose.KindOf(workload).ScaledToZero && o.GetName() == workload.GetName() && o.GroupVersionKind().Group == "rbac.authorization.k8s.io"
}

// allowRelease creates the Role and the RoleBinding. A job can run without them.
func (c *Cluster) allowRelease(ctx context.Context, rights []*unstructured.Unstructured, owner metav1.OwnerReference) error {
	for _, o := range rights {
		err := c.own(ctx, o, owner)
		if apierrors.IsForbidden(err) {
			begin, reason := "no permission to create the", ""
			if !apiserver.LacksRight(err) && !strings.Contains(err.Error(), "attempting to grant RBAC permissions") {
				begin, reason = "the cluster refuses the", fmt.Sprintf(": %v", err)
			}
			c.client.transport.Say("%s %s that lets the job release its hosts when it ends: unless its service account has the Role kinetic-release (kubectl apply -k manifests/rbac), the next kubectl kinetic jobs command releases the hosts%s", begin, o.GetKind(), reason)
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ensure creates an object, unless one with that name and the same content exists.
func (c *Cluster) ensure(ctx context.Context, o *unstructured.Unstructured, mode createMode) (made *unstructured.Unstructured, existed bool, err error) {
	made, err = c.create(ctx, o, mode)
	if !apierrors.IsAlreadyExists(err) {
		return made, false, err
	}
	made, err = c.get(ctx, o)
	switch {
	case err != nil:
		return nil, true, err
	case made.GetDeletionTimestamp() != nil:
		return nil, true, fmt.Errorf("%s %s is being deleted: try again in a moment", o.GetKind(), o.GetName())
	case slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return ownedBy(made, r.UID) }):
		return made, true, nil // the answer was lost, or the submit that created it was cut off
	}
	same, err := c.sameContent(ctx, made, o)
	switch {
	case err != nil:
		return nil, true, err
	case !same:
		return nil, true, fmt.Errorf("%s %s already exists in namespace %s with different content: rename yours, or delete the other with kubectl delete %s %s -n %s",
			o.GetKind(), o.GetName(), c.client.namespace, c.collectionOf(o).kind().resource, o.GetName(), c.client.namespace)
	}
	return made, true, nil
}

func ownedByJobs(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return slices.ContainsFunc(diagnose.Kinds, func(k *diagnose.Kind) bool { return r.Kind == k.Kind && strings.HasPrefix(r.Name, k.NamePrefix) })
	})
}

func ownedBy(o *unstructured.Unstructured, uid types.UID) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == uid })
}

// sameContent reports whether an object of the cluster has all the content of another object. It
// has if a patch with that content changes nothing: only the server knows how it normalizes values
// such as 1024Mi.
func (c *Cluster) sameContent(ctx context.Context, found, want *unstructured.Unstructured) (bool, error) {
	merged, err := c.client.tryMerge(ctx, c.collectionOf(want), want.GetName(), content(want))
	if apierrors.IsInvalid(err) { // the patch would change an immutable field
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return reflect.DeepEqual(content(found), content(merged)), nil
}

// content returns an object without the fields that the server sets.
func content(o *unstructured.Unstructured) map[string]any {
	c := maps.Clone(o.Object)
	delete(c, "metadata")
	delete(c, "status")
	return c
}
