package kube

import (
	"cmp"
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
	err, podsErr := w.client.list(ctx, w.client.jobs(), o, &jobs), <-failed
	if err = cmp.Or(err, podsErr); err != nil { // one is enough: both mostly fail alike
		return nil, err
	}
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
			Accelerator: cmp.Or(j.Annotations[api.AnnotationAccelerator], j.Labels[api.LabelAccelerator]),
			Created:     j.CreationTimestamp.UTC(),
			Status:      stateOf(j, own[key{j.Namespace, id}]),
		})
	}
	return records, w.explainPending(ctx, records, jobs.Items, own)
}

// key names a job among those of all namespaces.
type key struct{ namespace, id string }

// explainPending adds why jobs wait. It reads the events only if one does.
func (w *Workload) explainPending(ctx context.Context, records []Record, jobs []batchv1.Job, pods map[key][]corev1.Pod) error {
	if !slices.ContainsFunc(records, func(r Record) bool { return r.Status.State == api.Pending }) {
		return nil
	}
	var events corev1.EventList
	if err := w.client.list(ctx, w.client.events(), metav1.ListOptions{ResourceVersion: "0"}, &events); err != nil {
		return err
	}
	about := map[types.UID][]corev1.Event{}
	for _, e := range events.Items {
		about[e.InvolvedObject.UID] = append(about[e.InvolvedObject.UID], e)
	}
	for i := range records {
		if records[i].Status.State != api.Pending {
			continue
		}
		s := Situation{Job: &jobs[i], Pods: pods[key{records[i].Namespace, records[i].ID}], Events: about[jobs[i].UID], Now: time.Now()}
		for _, p := range s.Pods {
			s.Events = append(s.Events, about[p.UID]...)
		}
		explained(&records[i].Status, Why(s))
	}
	return nil
}
