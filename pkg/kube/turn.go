package kube

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// turn is the turn of a job in a queue: a Workload of Kueue, with what is read of it.
type turn struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            turnStatus `json:"status,omitempty"`
}

// turnStatus is how far a turn is.
type turnStatus struct {
	Conditions      []metav1.Condition `json:"conditions,omitempty"`
	AdmissionChecks []turnCheck        `json:"admissionChecks,omitempty"`
}

// turnCheck is one more condition of a queue, such as that machines have been
// provisioned.
type turnCheck struct {
	Name    string `json:"name,omitempty"`
	State   string `json:"state,omitempty"`
	Message string `json:"message,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (t *turn) DeepCopyObject() runtime.Object {
	c := *t
	c.ObjectMeta = *t.DeepCopy() // which is that of the metadata
	c.Status.Conditions = slices.Clone(t.Status.Conditions)
	c.Status.AdmissionChecks = slices.Clone(t.Status.AdmissionChecks)
	return &c
}

// turnList is a list of them.
type turnList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []turn `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *turnList) DeepCopyObject() runtime.Object {
	c := *l
	c.ListMeta = *l.DeepCopy()
	c.Items = make([]turn, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopyObject().(*turn)
	}
	return &c
}

// Versions of the API of Workloads, in which what is read of them is the same. Kueue
// v0.14 serves the first alone, later ones both, and some day only the second.
var (
	turnVersion      = schema.GroupVersion{Group: "kueue.x-k8s.io", Version: "v1beta1"}
	newerTurnVersion = schema.GroupVersion{Group: "kueue.x-k8s.io", Version: "v1beta2"}
)

func addTurns(s *runtime.Scheme) error {
	for _, v := range []schema.GroupVersion{turnVersion, newerTurnVersion} {
		s.AddKnownTypeWithName(v.WithKind("Workload"), &turn{})
		s.AddKnownTypeWithName(v.WithKind("WorkloadList"), &turnList{})
		metav1.AddToGroupVersion(s, v)
	}
	return nil
}

// isOf tells whether it is the turn of the workload with the UID. The pods of a set
// own it, too.
func (t *turn) isOf(uid types.UID) bool {
	return slices.ContainsFunc(t.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == uid })
}

// condition finds a condition by its type, nil where there is none.
func (t *turn) condition(kind string) *metav1.Condition {
	for i, c := range t.Status.Conditions {
		if c.Type == kind {
			return &t.Status.Conditions[i]
		}
	}
	return nil
}
