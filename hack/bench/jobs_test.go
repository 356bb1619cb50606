//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestIdleTakesTheJobAndItsPodOutOfManifests(t *testing.T) {
	jobText, podText, err := idle(`{"kind":"List","items":[{"kind":"ConfigMap","data":{}},{"kind":"Job","metadata":{"name":"a"},"spec":{"suspend":false,
		"template":{"metadata":{"labels":{"job-id":"a"}},"spec":{"containers":[{"name":"worker"}]}}}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	var job batchv1.Job
	var pod corev1.Pod
	if err := errors.Join(json.Unmarshal([]byte(jobText), &job), json.Unmarshal([]byte(podText), &pod)); err != nil {
		t.Fatal(err)
	}
	if job.Name != "a" || job.Spec.Suspend == nil || !*job.Spec.Suspend || job.Spec.ManagedBy == nil {
		t.Errorf("%s: want Job a, suspended, with a manager of its own", jobText)
	}
	if pod.Kind != "Pod" || pod.Name == "" || pod.Labels["job-id"] != "a" || len(pod.Spec.Containers) != 1 || pod.Spec.SchedulerName == "" {
		t.Errorf("%s: want the pod of Job a, with a scheduler of its own", podText)
	}
	if job, pod, err := idle(`{"kind":"List","items":[{"kind":"ConfigMap"}]}`); err == nil {
		t.Errorf("manifests without a Job give %s and %s", job, pod)
	}
}

func TestCounterPassesRequestsOnAndCountsThem(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.Method+" "+r.URL.RequestURI()+" "+string(body))
	}))
	defer server.Close()
	counted, err := countRequests(server.URL, http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	defer counted.Close()
	for range 3 {
		answer, err := open(t.Context(), http.DefaultClient, http.MethodPost, counted.URL+"/a%2Fb?c=d", "e")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer)
		if err != nil || string(text) != "POST /a%2Fb?c=d e" {
			t.Errorf("got %q, %v", text, err)
		}
		answer.Close()
	}
	if n := counted.count.Load(); n != 3 {
		t.Errorf("counted %d requests, want 3", n)
	}
}
