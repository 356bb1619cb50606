package kube

import (
	"net/http"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestLosses(t *testing.T) {
	drained := pod("kinetic-a1-b", 1, running(2))
	drained.Spec.NodeName = "n1"
	drained.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", LastTransitionTime: at(7)}}
	s := newSnapshot()
	s.apply(change{object: &drained})
	for i, e := range []struct{ kind, reason, message string }{
		{"Pod", "Preempted", "Preempted by pod 5a7c on node n2"},
		{"Pod", "TaintManagerEviction", "Marking for deletion Pod ml/kinetic-a1-a"},
		{"Pod", "TaintManagerEviction", "Cancelling deletion of Pod ml/kinetic-a1-a"},
		{"Job", "Stopped", "Preempted to accommodate a workload (UID: 4039) due to prioritization in the ClusterQueue"},
		{"Workload", "Preempted", "it is told by the Job"},
		{"Pod", "Killing", "Stopping container kinetic-worker"},
	} {
		s.events[types.UID(rune('a'+i))] = corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: e.kind}, Reason: e.reason, Message: e.message,
			LastTimestamp: metav1.NewTime(at(i).Time)}
	}
	want := []api.Loss{
		{Time: at(0).UTC(), Why: "preempted by a pod of higher priority"},
		{Time: at(1).UTC(), Why: "its node was lost or closed to it"},
		{Time: at(3).UTC(), Why: "Kueue took its turn back: Preempted to accommodate a workload due to prioritization in the ClusterQueue"},
		{Time: at(7).UTC(), Why: "evicted from node n1, which is being drained"},
	}
	if diff := cmp.Diff(want, losses(s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Of a job that is gone nothing is asked that needs its object.
func TestLossesOfAJobThatIsGone(t *testing.T) {
	w := New(clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
		switch path.Base(r.URL.Path) {
		case "jobs":
			answerWith(w, http.StatusOK, batchv1.JobList{TypeMeta: metav1.TypeMeta{Kind: "JobList", APIVersion: "batch/v1"}})
		case "pods":
			answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}})
		case "events":
			t.Error("it asks for events")
		default: // there are no LeaderWorkerSets
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		}
	}), nil)
	if found, err := w.Losses(t.Context(), "a1"); len(found) > 0 || err != nil {
		t.Errorf("%v, %v; want none", found, err)
	}
}
