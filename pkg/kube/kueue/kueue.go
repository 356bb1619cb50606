// Package kueue contains the part of Kueue's API that is read.
package kueue

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Release is the release that Install installs: the one of the tests on a real cluster. A later one may serve only
// versions of its API that are not known here.
const Release = "v0.15.0"

// Install installs the controller in a cluster. Its manifest is as large as all of LeaderWorkerSet, and few
// want it, so it isn't a part of a binary.
const Install = "kubectl apply --server-side -f https://github.com/kubernetes-sigs/kueue/releases/download/" + Release + "/manifests.yaml"

// Workload is a job's place in a queue, with the fields that are read.
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            WorkloadStatus `json:"status,omitempty"`
}

// WorkloadStatus is the progress of a Workload.
type WorkloadStatus struct {
	Conditions      []metav1.Condition `json:"conditions,omitempty"`
	AdmissionChecks []AdmissionCheck   `json:"admissionChecks,omitempty"`
}

// AdmissionCheck is an additional condition of a queue, such as that machines have been
// provisioned.
type AdmissionCheck struct {
	Name    string `json:"name,omitempty"`
	State   string `json:"state,omitempty"`
	Message string `json:"message,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (w *Workload) DeepCopyObject() runtime.Object {
	c := *w
	c.ObjectMeta = *w.DeepCopy() // ObjectMeta's DeepCopy
	c.Status.Conditions = slices.Clone(w.Status.Conditions)
	c.Status.AdmissionChecks = slices.Clone(w.Status.AdmissionChecks)
	return &c
}

// WorkloadList is a list of Workloads.
type WorkloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Workload `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *WorkloadList) DeepCopyObject() runtime.Object {
	c := *l
	c.ListMeta = *l.DeepCopy()
	c.Items = make([]Workload, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopyObject().(*Workload)
	}
	return &c
}

// Versions of the API; the fields that are read and written are the same in both. Kueue v0.14 serves only the first,
// later releases serve both, and v0.20 only the second.
var (
	Version      = schema.GroupVersion{Group: "kueue.x-k8s.io", Version: "v1beta1"}
	NewerVersion = schema.GroupVersion{Group: "kueue.x-k8s.io", Version: "v1beta2"}
)

// UnknownVersions returns the versions of Kueue's API that a server has, for a sentence, if
// neither of ours is among them; else "".
func UnknownVersions(group metav1.APIGroup) string {
	var versions []string
	for _, v := range group.Versions {
		versions = append(versions, v.Version)
	}
	if slices.Contains(versions, Version.Version) || slices.Contains(versions, NewerVersion.Version) {
		return ""
	}
	return strings.Join(versions, " and ")
}

// AddToScheme adds Workloads in both versions to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	for _, v := range []schema.GroupVersion{Version, NewerVersion} {
		s.AddKnownTypeWithName(v.WithKind("Workload"), &Workload{})
		s.AddKnownTypeWithName(v.WithKind("WorkloadList"), &WorkloadList{})
		metav1.AddToGroupVersion(s, v)
	}
	return nil
}

// IsOf reports whether it is the Workload of the object with the UID. The pods of a
// LeaderWorkerSet own it, too.
func (w *Workload) IsOf(uid types.UID) bool {
	return slices.ContainsFunc(w.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == uid })
}

// Condition returns the condition of a type, nil if there is none.
func (w *Workload) Condition(kind string) *metav1.Condition {
	for i, c := range w.Status.Conditions {
		if c.Type == kind {
			return &w.Status.Conditions[i]
		}
	}
	return nil
}
