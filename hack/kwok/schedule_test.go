package kwok_test

import (
	"fmt"
	"testing"

	"google.golang.org/api/container/v1"
	corev1 "k8s.io/api/core/v1"
	requests "k8s.io/component-helpers/resource"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/kubectl-kinetic/kinetic/hack/kwok"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// TestJobsFitTheirPools schedules the pods of every job onto the nodes of every pool, by the scheduler's
// own rules: those of the pool that pool add makes for the job, and those that may take it as well.
func TestJobsFitTheirPools(t *testing.T) {
	jobs, err := kwok.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	pools := map[string]kwok.Job{} // one of the jobs of each
	nodes := map[string]*corev1.Node{}
	for _, j := range jobs {
		pools[j.Pool.Name], nodes[j.Pool.Name] = j, nodeOf(t, j.Pool)
	}
	for _, j := range jobs {
		pods, err := j.Pods()
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range pods {
			for name, other := range pools {
				why := misfit(t, pod, nodes[name])
				if fits := why == ""; fits != takes(other, j) {
					t.Errorf("%s: a node for %s takes %s: %v %s", j, other, pod.Name, fits, why)
				}
			}
		}
	}
}

// takes reports whether the pool of one job may take another job. It has that job's shape and capacity,
// with two exceptions: it may have more GPUs of the same kind, since a job selects the kind alone and
// requests the number; and a job on demand takes what there is, except for spot nodes.
func takes(pool, j kwok.Job) bool {
	has, wants := pool.Accelerator, j.Accelerator
	switch {
	case j.Capacity.Kind != api.CapacityOnDemand && j.Capacity != pool.Capacity:
		return false
	case j.Capacity.Kind != api.CapacitySpot && pool.Capacity.Kind == api.CapacitySpot:
		return false
	case wants.Kind == api.GPU:
		return has.Label == wants.Label && has.ChipsPerHost >= wants.ChipsPerHost
	}
	return has.Label == wants.Label && has.Topology == wants.Topology && has.ChipsPerHost == wants.ChipsPerHost
}

// nodeOf returns a node of a pool.
func nodeOf(t *testing.T, p *container.NodePool) *corev1.Node {
	t.Helper()
	node := kwok.Node(p, p.Name+"-1", "a-test")
	if len(node.Spec.Taints) == 0 {
		t.Errorf("nodes of %s have no taint", p.Name)
	}
	return &node
}

// misfit says why the scheduler would not put a pod on a node, "" if it would.
func misfit(t *testing.T, pod *corev1.Pod, node *corev1.Node) string {
	t.Helper()
	matches, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	if err != nil {
		t.Fatal(err)
	}
	if !matches {
		return fmt.Sprintf("selects %v, and the node has %v", pod.Spec.NodeSelector, node.Labels)
	}
	hard := func(taint *corev1.Taint) bool { return taint.Effect != corev1.TaintEffectPreferNoSchedule }
	if taint, found := scheduling.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, hard, false); found {
		return "doesn't tolerate " + taint.ToString()
	}
	for name, wants := range requests.PodRequests(pod, requests.PodResourcesOptions{}) {
		if has := node.Status.Allocatable[name]; name != corev1.ResourceEphemeralStorage && wants.Cmp(has) > 0 {
			return fmt.Sprintf("wants %v %s, and the node has %v", &wants, name, &has)
		}
	}
	return ""
}
