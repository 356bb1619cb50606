package diagnose

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
		"the outcome of several hosts": {lws(api.Contract.Names.Outcome, succeeded), nil, want},
	} {
		if diff := cmp.Diff(tt.want, workloadOf(tt.workload).State(tt.pods).Reported); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// Each pod of a map reports its own list, whatever became of the others.
func TestReportedHashes(t *testing.T) {
	with := func(chunk int, code int32, message string) corev1.Pod {
		return indexed(chunk, terminated(code, "", message))
	}
	pods := []corev1.Pod{
		with(0, 0, `{"state":"SUCCEEDED","attempt":1,"hashes":"aa"}`),
		with(1, 137, ""),
		with(1, 0, `{"state":"SUCCEEDED","attempt":2,"hashes":"bb"}`),
		with(2, 124, `{"state":"FAILED","attempt":1,"hashes":"cc"}`),
		with(3, 0, `"hashes"`),
		indexed(3, running(2)),
	}
	want := []api.ChunkHashes{{Chunk: 0, Attempt: 1, SHA256: "aa"}, {Chunk: 1, Attempt: 2, SHA256: "bb"}, {Chunk: 2, Attempt: 1, SHA256: "cc"}}
	for name, job := range map[string]runtime.Object{"running": aMap(1), "failed": brokenMap()} {
		if diff := cmp.Diff(want, workloadOf(job).State(pods).Hashes); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}
