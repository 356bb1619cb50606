package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestDisruptions(t *testing.T) {
	drained := pod("kinetic-a1-b", 1, running(2))
	drained.Spec.NodeName = "n1"
	drained.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", LastTransitionTime: at(7)}}
	s := Observation{Pods: []corev1.Pod{drained}}
	for i, e := range []struct{ kind, reason, message string }{
		{"Pod", "Preempted", "Preempted by pod 5a7c on node n2"},
		{"Pod", "TaintManagerEviction", "Marking for deletion Pod ml/kinetic-a1-a"},
		{"Pod", "TaintManagerEviction", "Cancelling deletion of Pod ml/kinetic-a1-a"},
		{"Job", "Stopped", "Preempted to accommodate a workload (UID: 4039) due to prioritization in the ClusterQueue"},
		{"Workload", "Preempted", "it is told by the Job"},
		{"Pod", "Killing", "Stopping container kinetic-worker"},
	} {
		s.Events = append(s.Events, corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: e.kind}, Reason: e.reason, Message: e.message,
			LastTimestamp: metav1.NewTime(at(i).Time)})
	}
	want := []api.Disruption{
		{Time: at(0).UTC(), Why: "preempted by a pod of higher priority"},
		{Time: at(1).UTC(), Why: "its node was lost or became unavailable"},
		{Time: at(3).UTC(), Why: "evicted by Kueue: Preempted to accommodate a workload due to prioritization in the ClusterQueue"},
		{Time: at(7).UTC(), Why: "evicted from node n1, which is being drained"},
	}
	if diff := cmp.Diff(want, s.Disruptions()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
