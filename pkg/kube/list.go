package kube

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Record is what a cluster tells of one job.
type Record struct {
	ID, Namespace string
	// Store is the URL of the job's store, "" for a job of the Python tool.
	Store       string
	Function    string
	Accelerator string
	Created     time.Time
	Status      api.Status
}

// List tells about all jobs of the namespace, in one request for each kind. It
// may be a moment behind: the API server answers from its cache.
func (w *Workload) List(ctx context.Context) ([]Record, error) {
	o := metav1.ListOptions{LabelSelector: api.LabelApp + "=" + api.AppSingleHost + "," + api.LabelJobID, ResourceVersion: "0"}
	var jobs batchv1.JobList
	var pods corev1.PodList
	failed := make(chan error, 1)
	go func() { failed <- w.client.list(ctx, w.client.pods(), o, &pods) }()
	if err := errors.Join(w.client.list(ctx, w.client.jobs(), o, &jobs), <-failed); err != nil {
		return nil, err
	}
	type key struct{ namespace, id string }
	own := map[key][]corev1.Pod{}
	for _, p := range pods.Items {
		k := key{p.Namespace, p.Labels[api.LabelJobID]}
		own[k] = append(own[k], p)
	}
	records := make([]Record, 0, len(jobs.Items))
	for i := range jobs.Items {
		j := &jobs.Items[i]
		id := j.Labels[api.LabelJobID]
		records = append(records, Record{
			ID: id, Namespace: j.Namespace,
			Store:       j.Annotations[api.AnnotationStore],
			Function:    j.Annotations[api.AnnotationFunction],
			Accelerator: cmp.Or(j.Annotations[api.AnnotationPrefix+"accelerator"], shape(id)),
			Created:     j.CreationTimestamp.UTC(),
			Status:      stateOf(j, own[key{j.Namespace, id}]),
		})
	}
	return records, nil
}

// shape is the accelerator that an id begins with.
func shape(id string) string {
	before, _, _ := strings.Cut(id, "-")
	return before
}
