package kube

import (
	"context"
	"encoding/json"
	"net/http"
	"path"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Nothing changes in a cluster while a sidecar keeps the pod of a worker that has crashed. That is told all the same.
func TestWatchTellsOfAContainerThatRunsOn(t *testing.T) {
	synctest.Test(t, testAContainerThatRunsOn)
}

func testAContainerThatRunsOn(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "kinetic-a1-x", Namespace: "ml", Labels: map[string]string{api.LabelJobID: "a1", "job-name": "kinetic-a1"}}}
	ended := metav1.Now()
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{
		{Name: api.ContainerName, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 139, FinishedAt: ended}}},
		{Name: "istio-proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
	}}
	list := func(kind string) metav1.TypeMeta { return metav1.TypeMeta{Kind: kind, APIVersion: "v1"} }
	c := New(clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
		resource := path.Base(r.URL.Path)
		switch {
		case r.URL.Query().Get("watch") != "":
			w.Header().Set("Content-Type", "application/json")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case resource == "jobs":
			answerWith(w, http.StatusOK, listOfOneJob())
		case resource == "pods":
			answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: list("PodList"), Items: []corev1.Pod{p}})
		case resource == "events":
			answerWith(w, http.StatusOK, corev1.EventList{TypeMeta: list("EventList")})
		default:
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		}
	}))
	var told []api.WorkloadStatus
	_, _ = c.Watch(ctx, handleOf("a1"), func(s api.WorkloadStatus) {
		if told = append(told, s); s.Unrecoverable {
			cancel()
		}
	})
	if len(told) < 2 || told[0].Unrecoverable || !told[len(told)-1].Unrecoverable {
		text, _ := json.Marshal(told)
		t.Errorf("told %s", text)
	}
}
