package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// What a pod, or the leader of a set, says about its result is part of the status.
func TestReportedPickle(t *testing.T) {
	const pickle = `"pickle":{"name":"result.pkl","sha256":"ab12","size":7}`
	want := &api.Pickle{Name: "result.pkl", SHA256: "ab12", Size: 7}
	succeeded, failed := `{"state":"SUCCEEDED",`+pickle+`}`, `{"state":"FAILED",`+pickle+`}`
	for name, tt := range map[string]struct {
		workload runtime.Object
		pods     []corev1.Pod
		want     *api.Pickle
	}{
		"a value":                      {job(), []corev1.Pod{pod("a", 1, terminated(0, "Completed", succeeded))}, want},
		"an exception":                 {job(), []corev1.Pod{pod("a", 1, terminated(1, "Error", failed))}, want},
		"none":                         {job(), []corev1.Pod{pod("a", 1, terminated(0, "Completed", `{"state":"SUCCEEDED"}`))}, nil},
		"a message of another end":     {job(), []corev1.Pod{pod("a", 1, terminated(0, "Completed", failed))}, nil},
		"a pod that still runs":        {job(), []corev1.Pod{pod("a", 1, running(2))}, nil},
		"the outcome of several hosts": {lws(api.AnnotationOutcome, succeeded), nil, want},
	} {
		if diff := cmp.Diff(tt.want, workloadOf(tt.workload).State(tt.pods).Reported); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}
