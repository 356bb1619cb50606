//go:build unix

package main

import (
	"maps"
	"slices"
	"testing"

	"google.golang.org/api/container/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// apply does what the API server does with a former that is put.
func apply(node *corev1.Node, f former) {
	for label, value := range f.Labels {
		if delete(node.Labels, label); value != nil {
			node.Labels[label] = *value
		}
	}
	node.Spec.Taints = f.Taints
	for name, amount := range f.Chips {
		if delete(node.Status.Capacity, corev1.ResourceName(name)); amount != nil {
			node.Status.Capacity[corev1.ResourceName(name)] = resource.MustParse(*amount)
		}
	}
}

func TestAMachineIsANodeOfAPoolAndThenWhatItWas(t *testing.T) {
	node := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"mine": "1", api.NodeLabelPool: "tpu-pool",
			"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice", "cloud.google.com/gke-tpu-topology": "2x4"}},
		Spec:   corev1.NodeSpec{Taints: []corev1.Taint{{Key: "google.com/tpu", Value: "present", Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{Capacity: corev1.ResourceList{"google.com/tpu": resource.MustParse("4"), corev1.ResourceCPU: resource.MustParse("2")}},
	}
	before := node.DeepCopy()
	pool := &container.NodePool{Name: "acceptance-l4", Config: &container.NodeConfig{MachineType: "g2-standard-4", Spot: true,
		Accelerators: []*container.AcceleratorConfig{{AcceleratorType: "nvidia-l4", AcceleratorCount: 1}}}}
	want, was := clothes(node, pool)

	apply(&node, want)
	labels := maps.Clone(gke.NodeLabels(pool))
	labels["mine"] = "1"
	if !maps.Equal(node.Labels, labels) {
		t.Errorf("labels %v, want %v", node.Labels, labels)
	}
	if !slices.Equal(node.Spec.Taints, gke.NodeTaints(pool)) {
		t.Errorf("taints %v", node.Spec.Taints)
	}
	if gpus := node.Status.Capacity["nvidia.com/gpu"]; gpus.Value() != 1 || len(node.Status.Capacity) != 2 {
		t.Errorf("capacity %v", node.Status.Capacity)
	}

	apply(&node, was)
	if !maps.Equal(node.Labels, before.Labels) || !slices.Equal(node.Spec.Taints, before.Spec.Taints) || len(node.Status.Capacity) != 2 {
		t.Errorf("got %v, want %v", node, before)
	}
	if tpus := node.Status.Capacity["google.com/tpu"]; tpus.Value() != 4 {
		t.Errorf("%v chips", tpus)
	}
}

func TestOnlyPoolsWithAcceleratorsWishForMachines(t *testing.T) {
	slice := &container.NodePool{Name: "two", Status: "RUNNING", Config: &container.NodeConfig{MachineType: "ct5lp-hightpu-4t"},
		PlacementPolicy: &container.PlacementPolicy{TpuTopology: "2x4"}, Autoscaling: &container.NodePoolAutoscaling{Enabled: true, MaxNodeCount: 2}}
	made := *slice
	made.Name, made.Status = "made", "PROVISIONING"
	plain := &container.NodePool{Name: "default-pool", Status: "RUNNING", Config: &container.NodeConfig{MachineType: "e2-standard-4"}, InitialNodeCount: 1}
	var got []lease
	for _, w := range wishes([]*container.Cluster{{Name: "c", NodePools: []*container.NodePool{plain, slice, &made}}}) {
		got = append(got, w.lease)
	}
	if want := []lease{{"c", "two"}, {"c", "two"}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
