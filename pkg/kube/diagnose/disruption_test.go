package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestDisruptions(t *testing.T) {
	drained := pod("kinetic-a1-b", 1, running(2))
	drained.Spec.NodeName = "n1"
	drained.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", LastTransitionTime: at(7)}}
	filled := pod("kinetic-a1-c", 8, terminated(137, "Error", ""))
	filled.Status.Reason, filled.Status.Message = "Evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi. Container kinetic-worker was using 80Gi, request is 0, has larger consumption of ephemeral-storage. "
	filled.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonTerminationByKubelet, Message: filled.Status.Message, LastTransitionTime: at(8)}}
	its := job()
	its.Name = "kinetic-a1"
	s := Observation{Workload: NewWorkload(Job, its), Pods: []corev1.Pod{drained, filled}}
	for i, e := range []struct{ kind, reason, message string }{
		{"Pod", "Preempted", "Preempted by pod 5a7c on node n2"},
		{"Pod", "TaintManagerEviction", "Marking for deletion Pod ml/kinetic-a1-a"},
		{"Pod", "TaintManagerEviction", "Cancelling deletion of Pod ml/kinetic-a1-a"},
		{"Job", "Stopped", "Preempted to accommodate a workload (UID: 4039) due to prioritization in the ClusterQueue"},
		{"Workload", "Preempted", "it is told by the Job"},
		{"Pod", "Killing", "Stopping container kinetic-worker"},
	} {
		s.Events = append(s.Events, corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: e.kind, Name: "kinetic-a1-a"}, Reason: e.reason, Message: e.message,
			LastTimestamp: metav1.NewTime(at(i).Time)})
	}
	want := []api.Disruption{
		{Time: at(0).UTC(), Why: "preempted by a pod of higher priority"},
		{Time: at(1).UTC(), Why: "its node was lost or became unavailable"},
		{Time: at(3).UTC(), Why: "evicted by Kueue: Preempted to accommodate a workload due to prioritization in the ClusterQueue"},
		{Time: at(7).UTC(), Why: "evicted from node n1, which is being drained"},
		{Time: at(8).UTC(), Why: "evicted: its node was low on ephemeral-storage, kinetic-worker used 80Gi and had requested 0; request more with --disk"},
	}
	if diff := cmp.Diff(want, s.Disruptions()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Events about pods that are gone are found by the names of the pods, and the name of one job may begin that of another.
func TestDisruptionsOfAnotherJobAreNotCounted(t *testing.T) {
	single, hosts, set := job(), job(), lws()
	single.Name, hosts.Name, set.Name = "kinetic-train", "kinetic-train", "kinetic-train"
	hosts.Spec.CompletionMode, hosts.Spec.Completions = new(batchv1.IndexedCompletion), new(int32(4))
	long, longHosts := job(), hosts.DeepCopy()
	long.Name = "kinetic-cpu-" + strings.Repeat("n", 46) // as long as can be
	longHosts.Name = long.Name
	for name, tt := range map[string]struct {
		workload Workload
		ours     []string
		others   []string
	}{
		"a Job":             {NewWorkload(Job, single), []string{"kinetic-train-x7x7x"}, []string{"kinetic-train-2-x7x7x", "kinetic-training-x7x7x"}},
		"an indexed Job":    {NewWorkload(Job, hosts), []string{"kinetic-train-3-x7x7x"}, []string{"kinetic-train-x7x7x", "kinetic-train-4-x7x7x", "kinetic-train-b-x7x7x", "kinetic-train-2-0-x7x7x", "kinetic-train-" + strings.Repeat("0", 60) + "-x7x7x"}},
		"a long name":       {NewWorkload(Job, long), []string{long.Name + "x7x7x"}, []string{long.Name[:57] + "-x7x7x"}},
		"and indexed":       {NewWorkload(Job, longHosts), []string{long.Name[:55] + "-3-x7x7x"}, []string{long.Name + "x7x7x", long.Name[:55] + "-4-x7x7x", long.Name[:54] + "-3-x7x7x"}},
		"a LeaderWorkerSet": {NewWorkload(LeaderWorkerSet, set), []string{"kinetic-train-0", "kinetic-train-0-12"}, []string{"kinetic-train-0-0", "kinetic-train-2-0", "kinetic-train-0-0-1", "kinetic-train-x7x7x"}},
	} {
		for want, names := range map[bool][]string{true: tt.ours, false: tt.others} {
			for _, pod := range names {
				s := Observation{Workload: tt.workload, Events: []corev1.Event{{Reason: "Preempted", InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: pod}}}}
				if s.countDisruptions(1) != "" != want || len(s.Disruptions()) == 1 != want {
					t.Errorf("%s, pod %s: counted %q, told %v, want %t", name, pod, s.countDisruptions(1), s.Disruptions(), want)
				}
			}
		}
	}
}
