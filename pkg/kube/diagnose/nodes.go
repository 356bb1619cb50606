package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	requests "k8s.io/component-helpers/resource"
	"k8s.io/klog/v2"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// WantsNodes reports whether Nodes would make it clearer why the job waits.
func (s Observation) WantsNodes() bool {
	return slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool {
		return p.Spec.NodeName == "" && matchNoNodes(oneLine(s.schedulerMessage(p))) != nil
	})
}

// explainNodes returns what the cluster has instead of what a pod needs, and what to do about it. It returns
// nothing if the nodes are unknown or one of them fits.
func (s Observation) explainNodes(p corev1.Pod) Diagnosis {
	if len(s.Nodes) == 0 {
		return Diagnosis{}
	}
	wanted := labels.SelectorFromSet(p.Spec.NodeSelector)
	var right, fit []corev1.Node
	for _, n := range s.Nodes {
		if wanted.Matches(labels.Set(n.Labels)) {
			right = append(right, n)
			if tolerates(p, n) {
				fit = append(fit, n)
			}
		}
	}
	onGKE := slices.ContainsFunc(s.Nodes, func(n corev1.Node) bool { return n.Labels[api.NodeLabelPool] != "" })
	if len(right) > 0 {
		if few := tooFewGPUs(p, right, onGKE); few.Sentence != "" {
			return few
		}
		return Diagnosis{Sentence: tooLarge(p, fit)}
	}
	if p.Spec.NodeSelector[api.NodeLabelGPU] == "" && p.Spec.NodeSelector[api.NodeLabelTPU] == "" {
		return Diagnosis{}
	}
	r := Diagnosis{Sentence: "the cluster has " + haves(s.Nodes) + " now"}
	name, known := acceleratorOf(p.Spec.NodeSelector)
	hasIt := slices.ContainsFunc(s.Nodes, func(n corev1.Node) bool { // and something else keeps the pod from it
		has, _ := acceleratorOf(n.Labels)
		return has == name
	})
	if a, found := onMoreHosts(p); found && slices.ContainsFunc(s.Nodes, func(n corev1.Node) bool {
		return labels.SelectorFromSet(a.NodeLabels()).Matches(labels.Set(n.Labels))
	}) {
		r.Sentence += fmt.Sprintf(", %d hosts for each %s: to use them, add --backend lws", a.Hosts, name)
	}
	if known && onGKE && !hasIt {
		r.Next = addPool(name, p)
	}
	return r
}

// addPool returns the command that adds nodes with as many of an accelerator as a pod requests.
func addPool(name string, p corev1.Pod) string {
	next := "kubectl kinetic pool add " + name
	if gpus := requested(p, api.ResourceGPU); gpus.CmpInt64(1) > 0 {
		next += "x" + gpus.String()
	}
	return next
}

// tooFewGPUs returns what is wrong if no node has as many GPUs as a pod requests: the nodes have the right GPU,
// but are of a smaller machine type, or have no driver.
func tooFewGPUs(p corev1.Pod, nodes []corev1.Node, onGKE bool) Diagnosis {
	asked, most := requested(p, api.ResourceGPU), largest(nodes, api.ResourceGPU)
	name, known := acceleratorOf(p.Spec.NodeSelector)
	switch {
	case name == "" || asked.Cmp(most) <= 0:
		return Diagnosis{}
	case most.IsZero():
		return Diagnosis{Sentence: fmt.Sprintf("no node with %s offers a GPU: its driver is being installed, or missing", name)}
	}
	r := Diagnosis{Sentence: fmt.Sprintf("the nodes with %s have no more than %s each now", name, human.Count(int(most.Value()), "GPU"))}
	if known && onGKE {
		r.Next = addPool(name, p)
	}
	return r
}

// largest returns the most of a resource that a node has.
func largest(nodes []corev1.Node, name corev1.ResourceName) (most resource.Quantity) {
	for _, n := range nodes {
		if has := n.Status.Allocatable[name]; has.Cmp(most) > 0 {
			most = has
		}
	}
	return most
}

func tolerates(p corev1.Pod, n corev1.Node) bool {
	return !slices.ContainsFunc(n.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Effect != corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool {
			return t.ToleratesTaint(klog.Background(), &taint, false)
		})
	})
}

func haves(nodes []corev1.Node) string {
	count := map[string]int{}
	for _, n := range nodes {
		if name, _ := acceleratorOf(n.Labels); name != "" {
			count[name]++
		}
	}
	if len(count) == 0 {
		return "no accelerators"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, name+" on "+human.Count(count[name], "node"))
	}
	return strings.Join(parts, ", ")
}

// acceleratorOf returns the accelerator that labels of a node stand for, as it is typed; "" if there is none. It is not
// known if this program has no name for it.
func acceleratorOf(of map[string]string) (name string, known bool) {
	gpu, tpu, topology := of[api.NodeLabelGPU], of[api.NodeLabelTPU], of[api.NodeLabelTopology]
	for _, o := range accelerator.Offers() {
		if gpu != "" && o.Kind == api.GPU && o.Label == gpu {
			return o.Name, true
		}
		if tpu != "" && o.Kind == api.TPU && o.Label == tpu && o.Topology == topology {
			return o.Text, true
		}
	}
	return foreign(gpu + tpu), false
}

// tooLarge returns a sentence if a pod requests more than the largest node has.
func tooLarge(p corev1.Pod, nodes []corev1.Node) string {
	for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceCPU} {
		asked, most := requested(p, name), largest(nodes, name)
		if most.IsZero() || asked.Cmp(most) <= 0 {
			continue
		}
		has := amount(name, most) + " CPUs"
		if name == corev1.ResourceMemory {
			has = human.Bytes(most.Value()) + " of memory"
		}
		return fmt.Sprintf("the largest node has %s now: ask for less, unless the cluster adds larger ones by itself", has)
	}
	return ""
}

func requested(p corev1.Pod, name corev1.ResourceName) resource.Quantity {
	return requests.PodRequests(&p, requests.PodResourcesOptions{})[name]
}

// amount is a quantity as one types it: 1000 CPUs, not 1k.
func amount(of corev1.ResourceName, q resource.Quantity) string {
	if of == corev1.ResourceCPU && q.CmpInt64(1000) >= 0 {
		return strconv.FormatInt(q.Value(), 10)
	}
	return q.String()
}
