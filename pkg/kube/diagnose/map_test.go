package diagnose

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// A pod with a sidecar ends seconds after its worker, and its Job counts it later still.
func TestMapEndsWithItsWorkers(t *testing.T) {
	done := func(index int) corev1.Pod { return indexed(index, terminated(0, "Completed", "")) }
	crashed := func(index int) corev1.Pod { return indexed(index, terminated(137, "OOMKilled", "")) }
	for name, c := range map[string]struct {
		pods []corev1.Pod
		want api.State
	}{
		"all":           {[]corev1.Pod{done(2), done(3)}, api.Succeeded},
		"one runs":      {[]corev1.Pod{done(2), indexed(3, running(2))}, api.Running},
		"one crashed":   {[]corev1.Pod{done(2), crashed(3)}, api.Running},
		"one is gone":   {[]corev1.Pod{done(2)}, api.Running},
		"counted twice": {[]corev1.Pod{done(1), done(2)}, api.Running},
		"crashed first": {[]corev1.Pod{crashed(2), done(2), done(3)}, api.Succeeded},
	} {
		job := aMap(2)
		job.Spec.Parallelism, job.Status.CompletedIndexes = new(int32(2)), "0-1"
		got := workloadOf(job).State(c.pods)
		if got.State != c.want {
			t.Errorf("%s: got %s, want %s", name, got.State, c.want)
		}
		if got.State == api.Succeeded && (got.Reason != api.Completed || got.Finished != at(5).UTC() || got.Started != at(2).UTC()) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
