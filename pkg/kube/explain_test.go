package kube

import (
	"net/http"
	"path"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Of a job that is gone nothing is asked that needs its object.
func TestLossesOfAJobThatIsGone(t *testing.T) {
	w := New(clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
		switch path.Base(r.URL.Path) {
		case "jobs":
			answerWith(w, http.StatusOK, batchv1.JobList{TypeMeta: metav1.TypeMeta{Kind: "JobList", APIVersion: "batch/v1"}})
		case "pods":
			answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}})
		case "events":
			t.Error("it asks for events")
		default: // there are no LeaderWorkerSets
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		}
	}), nil)
	if found, err := w.Losses(t.Context(), "a1"); len(found) > 0 || err != nil {
		t.Errorf("%v, %v; want none", found, err)
	}
}
