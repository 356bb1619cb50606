// Package manyjobs makes Jobs that nothing acts on, so that a cluster can have thousands.
package manyjobs

import (
	"encoding/json"
	"errors"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Idle returns the Job in a list of objects, changed so that it never runs, and its pod,
// changed so that it is never scheduled.
func Idle(list string) (job, pod string, err error) {
	var objects struct{ Items []json.RawMessage }
	if err := json.Unmarshal([]byte(list), &objects); err != nil {
		return "", "", err
	}
	for _, item := range objects.Items {
		var j batchv1.Job
		if err := json.Unmarshal(item, &j); err != nil || j.Kind != "Job" {
			continue
		}
		const nobody = "kubectl-kinetic.github.io/bench"
		j.Spec.Suspend, j.Spec.ManagedBy = new(true), new(nobody)
		p := corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: j.Spec.Template.ObjectMeta, Spec: j.Spec.Template.Spec}
		p.Name, p.Spec.SchedulerName = j.Name+"-x7x7x", nobody
		jobText, jobErr := json.Marshal(j)
		podText, podErr := json.Marshal(p)
		return string(jobText), string(podText), errors.Join(jobErr, podErr)
	}
	return "", "", errors.New("there is no Job in the manifests")
}

// Success returns a merge patch of the status of a Job, as its controller writes it when the only pod
// has succeeded.
func Success(at time.Time) string {
	now := at.UTC().Format(time.RFC3339)
	condition := func(kind string) string {
		return `{"type":"` + kind + `","status":"True","lastTransitionTime":"` + now + `"}`
	}
	return `{"status":{"startTime":"` + now + `","completionTime":"` + now + `","succeeded":1,"uncountedTerminatedPods":{},"conditions":[` +
		condition("SuccessCriteriaMet") + "," + condition("Complete") + `]}}`
}
