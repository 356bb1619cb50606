package diagnose

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// A job that waits for chips names the warm hosts that hold such chips.
func TestExplainWarmHosts(t *testing.T) {
	const tpus = "0/2 nodes are available: 2 Insufficient google.com/tpu."
	v6e := map[string]string{api.NodeLabelTPU: "tpu-v6e-slice", api.NodeLabelTopology: "2x4"}
	holder := func(id, node string, selector map[string]string) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{api.LabelJobID: id}}, Spec: corev1.PodSpec{NodeName: node, NodeSelector: selector}}
		p.Spec.Containers = []corev1.Container{{Name: api.ContainerName, Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{api.ResourceTPU: resource.MustParse("8"), corev1.ResourceCPU: resource.MustParse("1")}}}}
		return p
	}
	ended := holder("ended", "n", v6e)
	ended.Status.Phase = corev1.PodSucceeded
	others := []corev1.Pod{holder("waits-too", "", v6e), holder("v5e", "n", map[string]string{api.NodeLabelTPU: "tpu-v5-lite-podslice", api.NodeLabelTopology: "2x4"}), ended}
	many := []corev1.Pod{holder("d", "n", v6e), holder("c", "n", v6e), holder("b", "n", v6e), holder("a", "n", v6e), holder("a", "n", v6e)}
	for name, tt := range map[string]struct {
		message string
		pods    []corev1.Pod
		wants   map[string]string
		want    string
	}{
		"one holds them":   {tpus, append(others, holder("v6e-warm-1", "n", v6e)), v6e, "such chips are held by warm hosts: v6e-warm-1"},
		"many hold them":   {tpus, many, v6e, "such chips are held by warm hosts: a, b, c and 1 more"},
		"none holds them":  {tpus, others, v6e, ""},
		"it lacks no chip": {"0/2 nodes are available: 2 Insufficient cpu.", many, v6e, ""},
		"room for a CPU":   {"0/2 nodes are available: 2 Insufficient cpu.", append(many, holder("cpu-warm-1", "n", nil)), nil, "room is held by warm hosts: cpu-warm-1"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Observation{WarmPods: tt.pods}.explainWarmHosts(unscheduled("1", "1Gi", tt.message, tt.wants), tt.message)
			if got.Sentence != tt.want || (got.Next != "") != (tt.want != "") {
				t.Errorf("got %+v, want %q", got, tt.want)
			}
		})
	}
	waits := unscheduled("1", "1Gi", tpus, v6e)
	if got, want := (Observation{WarmPods: many[3:]}).explainUnscheduled(waits), "no node has room: 2 of 2 with too little google.com/tpu free; such chips are held by warm hosts: a"; got.Sentence != want || got.Next != "kubectl kinetic jobs warm" {
		t.Errorf("got %+v, want %q", got, want)
	}
	cpus := "0/1 nodes are available: 1 Insufficient cpu."
	seen := Observation{WarmPods: append(many, holder("cpu-warm-1", "n", nil)), Nodes: []corev1.Node{node("16Gi", nil)}}
	if got, large := seen.explainUnscheduled(unscheduled("500", "1Gi", cpus, nil)).Sentence, "ask for less, unless"; !strings.Contains(got, large) || strings.Contains(got, "warm") {
		t.Errorf("more than a node has: %q, want %q and no warm hosts", got, large)
	}
	if got := seen.explainUnscheduled(unscheduled("2", "1Gi", cpus, nil)).Sentence; !strings.Contains(got, "held by warm hosts: cpu-warm-1") {
		t.Errorf("as much as a node has: %q, want the warm host", got)
	}
}
