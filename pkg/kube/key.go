package kube

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// mayPutKey reports whether the Secret can be created from which the hosts of a workload get their
// key. It asks the server, which keeps nothing. It is false if no host needs a key, and if the
// server can't say.
func (c *Cluster) mayPutKey(ctx context.Context, workload *unstructured.Unstructured) bool {
	if len(keyRefs(workload)) == 0 {
		return false
	}
	probe := secretOf(specOf(workload), workload, nil)
	_, err := c.create(ctx, probe, modeDryRun)
	if err != nil && !apierrors.IsAlreadyExists(err) {
		klog.V(1).Infof("hosts do not wait for their key: %v", err)
		return false
	}
	return true
}

// awaitingKey returns a workload whose hosts do not start before they have their key. In the
// manifests the key is optional, so that they can be applied without the Secret.
func awaitingKey(workload *unstructured.Unstructured) *unstructured.Unstructured {
	awaiting := workload.DeepCopy()
	for _, ref := range keyRefs(awaiting) {
		delete(ref, "optional")
	}
	return awaiting
}

// keyRefs returns the references in a workload's pods to the key in the job's own Secret. They are
// parts of the workload, not copies.
func keyRefs(workload *unstructured.Unstructured) []map[string]any {
	var refs []map[string]any
	secret := specOf(workload).SecretName()
	for _, template := range diagnose.KindOf(workload).PodTemplates {
		for _, c := range containersOf(workload, template) {
			for _, variable := range objectsIn(c, "env") {
				found, _, _ := unstructured.NestedFieldNoCopy(variable, "valueFrom", "secretKeyRef")
				if ref, ok := found.(map[string]any); ok && variable["name"] == api.Contract.Names.GroupKey && ref["name"] == secret {
					refs = append(refs, ref)
				}
			}
		}
	}
	return refs
}

// specOf returns a Spec that only has the id of a workload's job.
func specOf(workload *unstructured.Unstructured) api.Spec {
	return api.Spec{ID: workload.GetLabels()[api.LabelJobID]}
}

// containersOf returns the containers of a workload's pod template, not copied.
func containersOf(workload *unstructured.Unstructured, template []string) []map[string]any {
	return objectsIn(workload.Object, append(template, "spec", "containers")...)
}

// objectsIn returns the objects of a list in an object, not copied.
func objectsIn(o map[string]any, path ...string) []map[string]any {
	list, _, _ := unstructured.NestedFieldNoCopy(o, path...)
	items, _ := list.([]any)
	var objects []map[string]any
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	return objects
}
