// Package kwok makes nodes that exist in the API only: KWOK plays their kubelets. It also has jobs on
// every shape of accelerators, with the node pool whose nodes each of them needs.
package kwok

import (
	"google.golang.org/api/container/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// Node returns a node of a pool as GKE would make it: with its labels and taints, and the chips
// that its device plugin counts. The additional label lets it be found.
func Node(p *container.NodePool, name, label string) corev1.Node {
	a, _ := gke.Shape(p)
	size := accelerator.Largest(a)
	has := corev1.ResourceList{
		corev1.ResourceName(a.Resource): *resource.NewQuantity(int64(a.ChipsPerHost), resource.DecimalSI),
		corev1.ResourceCPU:              *resource.NewQuantity(int64(size.CPUs), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(int64(size.GiB)<<30, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(110, resource.DecimalSI),
	}
	node := corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: gke.NodeLabels(p),
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}},
		Spec: corev1.NodeSpec{Taints: gke.NodeTaints(p)}, Status: corev1.NodeStatus{Allocatable: has, Capacity: has},
	}
	node.Labels[corev1.LabelHostname] = name
	node.Labels[label] = "true"
	return node
}
