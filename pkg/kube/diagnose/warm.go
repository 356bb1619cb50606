package diagnose

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// namedHosts is how many warm hosts a sentence names.
const namedHosts = 3

// explainWarmHosts names the warm hosts that hold the accelerators which a pod waits for, as the scheduler says, or the CPUs and memory
// if it wants no accelerator.
func (s Observation) explainWarmHosts(p corev1.Pod, says string) Diagnosis {
	var ids []string
	wanted, _ := acceleratorOf(p.Spec.NodeSelector)
	names, what := []corev1.ResourceName{api.ResourceGPU, api.ResourceTPU}, "such chips are"
	if wanted == "" {
		names, what = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}, "room is"
	}
	for _, name := range names {
		if !strings.Contains(says, "Insufficient "+string(name)) {
			continue
		}
		for _, holder := range s.WarmPods {
			held, _ := acceleratorOf(holder.Spec.NodeSelector)
			if q := requested(holder, name); held == wanted && !q.IsZero() && holder.Spec.NodeName != "" && !hasEnded(holder) {
				ids = append(ids, holder.Labels[api.LabelJobID])
			}
		}
	}
	if len(ids) == 0 {
		return Diagnosis{}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	more := ""
	if len(ids) > namedHosts {
		more = fmt.Sprintf(" and %d more", len(ids)-namedHosts)
		ids = ids[:namedHosts]
	}
	return Diagnosis{Sentence: what + " held by warm hosts: " + strings.Join(ids, ", ") + more, Next: "kubectl kinetic jobs warm"}
}
