package status

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// KueueWorkload is a Workload of Kueue, which is a job's place in a queue, with the
// fields that are read.
type KueueWorkload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            KueueWorkloadStatus `json:"status,omitempty"`
}

// KueueWorkloadStatus is the progress of a KueueWorkload.
type KueueWorkloadStatus struct {
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
func (w *KueueWorkload) DeepCopyObject() runtime.Object {
	c := *w
	c.ObjectMeta = *w.DeepCopy() // ObjectMeta's DeepCopy
	c.Status.Conditions = slices.Clone(w.Status.Conditions)
	c.Status.AdmissionChecks = slices.Clone(w.Status.AdmissionChecks)
	return &c
}

// KueueWorkloadList is a list of KueueWorkloads.
type KueueWorkloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KueueWorkload `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *KueueWorkloadList) DeepCopyObject() runtime.Object {
	c := *l
	c.ListMeta = *l.DeepCopy()
	c.Items = make([]KueueWorkload, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopyObject().(*KueueWorkload)
	}
	return &c
}

// Versions of the API of Workloads; the fields that are read are the same in both. Kueue
// v0.14 serves only the first, later versions serve both, and some day only the second.
var (
	KueueVersion      = schema.GroupVersion{Group: "kueue.x-k8s.io", Version: "v1beta1"}
	NewerKueueVersion = schema.GroupVersion{Group: "kueue.x-k8s.io", Version: "v1beta2"}
)

// AddKueueWorkloads adds Workloads in both versions to a scheme.
func AddKueueWorkloads(s *runtime.Scheme) error {
	for _, v := range []schema.GroupVersion{KueueVersion, NewerKueueVersion} {
		s.AddKnownTypeWithName(v.WithKind("Workload"), &KueueWorkload{})
		s.AddKnownTypeWithName(v.WithKind("WorkloadList"), &KueueWorkloadList{})
		metav1.AddToGroupVersion(s, v)
	}
	return nil
}

// IsOf reports whether it is the Workload of the object with the UID. The pods of a
// LeaderWorkerSet own it, too.
func (w *KueueWorkload) IsOf(uid types.UID) bool {
	return slices.ContainsFunc(w.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == uid })
}

// condition returns the condition of a type, nil if there is none.
func (w *KueueWorkload) condition(kind string) *metav1.Condition {
	for i, c := range w.Status.Conditions {
		if c.Type == kind {
			return &w.Status.Conditions[i]
		}
	}
	return nil
}
