package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// podNamed returns the name of a Job's pod as the Job controller and the API server make it.
func podNamed(job string, index int) string {
	const longest = 58
	base := job + "-"
	if index >= 0 {
		end := fmt.Sprintf("-%d-", index)
		if base = job + end; len(base) > longest {
			base = base[:longest-len(end)] + end
		}
	}
	return base[:min(len(base), longest)] + "x7k2p"
}

// The names of pods have no room for the end of a long name, or for a dash.
func TestPodsOfJobsWithLongNames(t *testing.T) {
	for length := len("kinetic-") + 2; length <= 58; length++ { // with an ID of 50
		name := "kinetic-" + strings.Repeat("n", length-len("kinetic-")-2) + "-0"
		for _, index := range []int{-1, 0, 10, 100, 1000, 99_999} {
			j := job()
			j.Name = name
			if index >= 0 {
				j.Spec.CompletionMode, j.Spec.Completions = new(batchv1.IndexedCompletion), new(int32(100_000))
			}
			w, pod := NewWorkload(Job, j), podNamed(name, index)
			about := corev1.ObjectReference{Kind: "Pod", Name: pod}
			if !w.mayName(pod) || !MayBePartOf(about, name) {
				t.Errorf("%s (%d) does not know its pod %s", name, length, pod)
			}
			if found := slices.Contains(WorkloadNames(about), name); length <= 51 && !found {
				t.Errorf("%s is not among the names for %s", name, pod)
			}
			if other := "kinetic-m" + pod[len("kinetic-m"):]; w.mayName(other) || MayBePartOf(corev1.ObjectReference{Kind: "Pod", Name: other}, name) {
				t.Errorf("%s (%d) takes %s for its own", name, length, other)
			}
		}
	}
}
