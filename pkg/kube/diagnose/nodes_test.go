package diagnose

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func node(memory string, labels map[string]string) corev1.Node {
	return corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Status: corev1.NodeStatus{
		Allocatable: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourceCPU: resource.MustParse("3920m")}}}
}

// unscheduled is a pod that no node fits.
func unscheduled(cpu, memory, message string, selector map[string]string) corev1.Pod {
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	return corev1.Pod{Spec: corev1.PodSpec{NodeSelector: selector, Containers: []corev1.Container{{Name: api.ContainerName, Resources: corev1.ResourceRequirements{Requests: requests}}}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: message}}}}
}

// What the cluster has stands beside what it lacks, if the nodes can be read.
func TestExplainNodes(t *testing.T) {
	l4, v6e := map[string]string{api.NodeLabelGPU: "nvidia-l4"}, map[string]string{api.NodeLabelTPU: "tpu-v6e-slice", api.NodeLabelTopology: "2x4"}
	nodes := []corev1.Node{node("12Gi", map[string]string{api.NodeLabelPool: "cpu"}), node("13Gi", nil), node("60Gi", l4), node("60Gi", l4), node("60Gi", v6e)}
	v5e := map[string]string{api.NodeLabelTPU: "tpu-v5-lite-podslice", api.NodeLabelTopology: "2x4", api.NodeLabelChips: "4"}
	tainted := func(effect corev1.TaintEffect) corev1.Node {
		n := node("60Gi", nil)
		if effect == corev1.TaintEffectNoSchedule {
			n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("2k")
		}
		n.Spec.Taints = []corev1.Taint{{Key: "google.com/tpu", Value: "present", Effect: effect}}
		return n
	}
	gpuNode := func(gpus string) corev1.Node {
		n := node("60Gi", l4)
		n.Status.Allocatable[api.ResourceGPU] = resource.MustParse(gpus)
		return n
	}
	withGPUs := func(n int64) corev1.Pod {
		p := unscheduled("1", "1Gi", "0/5 nodes are available: 5 Insufficient nvidia.com/gpu.", l4)
		p.Spec.Containers[0].Resources.Requests[api.ResourceGPU] = *resource.NewQuantity(n, resource.DecimalSI)
		return p
	}
	const affinity, memory = "0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector.", "0/5 nodes are available: 5 Insufficient memory."
	t4 := map[string]string{api.NodeLabelGPU: "nvidia-tesla-t4"}
	for name, tt := range map[string]struct {
		pod   corev1.Pod
		nodes []corev1.Node
		want  Diagnosis
	}{
		"another accelerator": {unscheduled("1", "1Gi", affinity, t4), nodes,
			Diagnosis{Sentence: "no node fits: 5 of 5 without gke-accelerator=nvidia-tesla-t4; the cluster has l4 on 2 nodes, v6e-8 on 1 node now", Next: "kubectl kinetic pool add t4"}},
		"no accelerators": {unscheduled("1", "1Gi", affinity, t4), nodes[1:2],
			Diagnosis{Sentence: "no node fits: 5 of 5 without gke-accelerator=nvidia-tesla-t4; the cluster has no accelerators now", Next: "kubectl get nodes -l cloud.google.com/gke-accelerator=nvidia-tesla-t4"}},
		"unknown nodes": {unscheduled("1", "1Gi", affinity, t4), nil,
			Diagnosis{Sentence: "no node fits: 5 of 5 without gke-accelerator=nvidia-tesla-t4", Next: "kubectl get nodes -l cloud.google.com/gke-accelerator=nvidia-tesla-t4"}},
		"fewer GPUs on each node": {withGPUs(4), []corev1.Node{nodes[0], gpuNode("1"), gpuNode("2"), gpuNode("0")},
			Diagnosis{Sentence: "no node has room: 5 of 5 with too little nvidia.com/gpu free (4 asked); the nodes with l4 have no more than 2 GPUs each now", Next: "kubectl kinetic pool add l4x4"}},
		"GPUs without a driver": {withGPUs(1), []corev1.Node{gpuNode("0")},
			Diagnosis{Sentence: "no node has room: 5 of 5 with too little nvidia.com/gpu free (1 asked); no node with l4 offers a GPU: its driver is being installed, or missing"}},
		"GPUs that are taken": {withGPUs(1), []corev1.Node{gpuNode("1")},
			Diagnosis{Sentence: "no node has room: 5 of 5 with too little nvidia.com/gpu free (1 asked)"}},
		"too much memory": {unscheduled("1", "100Gi", memory, nil), nodes[:2],
			Diagnosis{Sentence: "no node has room: 5 of 5 with too little memory free (100Gi asked); the largest node has 13 GiB of memory now: ask for less, unless the cluster adds larger ones by itself"}},
		"too many CPUs": {unscheduled("16", "1Gi", "0/5 nodes are available: 5 Insufficient cpu.", l4), nodes,
			Diagnosis{Sentence: "no node has room: 5 of 5 with too little cpu free (16 asked); the largest node has 3920m CPUs now: ask for less, unless the cluster adds larger ones by itself"}},
		"too many CPUs for the nodes without a taint": {unscheduled("1000", "1Gi", "0/6 nodes are available: 1 Insufficient cpu, 5 node(s) had untolerated taint(s).", nil),
			[]corev1.Node{node("8Gi", nil), tainted(corev1.TaintEffectNoSchedule), tainted(corev1.TaintEffectPreferNoSchedule)},
			Diagnosis{Sentence: "no node has room: 1 of 6 with too little cpu free (1000 asked), 5 with a taint; the largest node has 3920m CPUs now: ask for less, unless the cluster adds larger ones by itself"}},
		"a slice on more hosts": {unscheduled("1", "1Gi", affinity, map[string]string{api.NodeLabelTPU: "tpu-v5-lite-podslice", api.NodeLabelTopology: "2x4", api.NodeLabelChips: "8"}),
			[]corev1.Node{node("60Gi", l4), node("60Gi", v5e), node("60Gi", v5e)},
			Diagnosis{Sentence: "no node fits: 5 of 5 without gke-accelerator-count=8 gke-tpu-accelerator=tpu-v5-lite-podslice gke-tpu-topology=2x4; the cluster has l4 on 1 node, v5e-8 on 2 nodes now, 2 hosts for each v5e-8: to use them, add --backend lws"}},
		"waiting helps": {unscheduled("1", "10Gi", memory, nil), nodes, Diagnosis{Sentence: "no node has room: 5 of 5 with too little memory free (10Gi asked)"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := Observation{Pods: []corev1.Pod{tt.pod}, Nodes: tt.nodes}
			if !o.WantsNodes() {
				t.Error("it does not want the nodes")
			}
			got := o.explainUnscheduled(tt.pod)
			if got.Sentence != tt.want.Sentence || tt.want.Next != "" && got.Next != tt.want.Next {
				t.Errorf("got %q, next %q; want %q, %q", got.Sentence, got.Next, tt.want.Sentence, tt.want.Next)
			}
		})
	}
	head := unscheduled("1", "1Gi", memory, nil)
	head.Spec.InitContainers = []corev1.Container{{Name: api.Contract.Pathways.Proxy, RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("16Gi")}}}}
	if got, want := (Observation{Nodes: nodes[:2]}).explainUnscheduled(head).Sentence, "memory free (17Gi asked); the largest node has 13 GiB"; !strings.Contains(got, want) {
		t.Errorf("with a sidecar: got %q, want %q", got, want)
	}
	early := unscheduled("1", "1Gi", "", t4)
	early.Status.Conditions = nil
	told := corev1.Event{Reason: "FailedScheduling", Message: affinity, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: early.Name, UID: early.UID}}
	if !(Observation{Pods: []corev1.Pod{early}, Events: []corev1.Event{told}}).WantsNodes() {
		t.Error("a pod whose event came before its condition wants no nodes")
	}
	placed := unscheduled("1", "1Gi", affinity, nil)
	placed.Spec.NodeName = "n"
	if (Observation{Pods: []corev1.Pod{placed, {}}}).WantsNodes() {
		t.Error("pods with a node, and new ones, want no nodes")
	}
}
