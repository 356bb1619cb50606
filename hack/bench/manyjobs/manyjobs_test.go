package manyjobs

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestIdleTakesTheJobAndItsPodOutOfManifests(t *testing.T) {
	jobText, podText, err := Idle(`{"kind":"List","items":[{"kind":"ConfigMap","data":{}},{"kind":"Job","metadata":{"name":"a"},"spec":{"suspend":false,
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
	if job, pod, err := Idle(`{"kind":"List","items":[{"kind":"ConfigMap"}]}`); err == nil {
		t.Errorf("manifests without a Job give %s and %s", job, pod)
	}
}

func TestSuccess(t *testing.T) {
	var job batchv1.Job
	if err := json.Unmarshal([]byte(Success(time.Unix(60, 0))), &job); err != nil {
		t.Fatal(err)
	}
	if s := job.Status; s.Succeeded != 1 || s.CompletionTime.Unix() != 60 || len(s.Conditions) != 2 || s.Conditions[1].Type != batchv1.JobComplete {
		t.Errorf("got %+v", s)
	}
}
