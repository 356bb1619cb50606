package kube

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Record is what a cluster tells of one job.
type Record struct {
	ID, Namespace string
	// Store is the URL of the job's store, "" where the Job doesn't tell.
	Store string
	// Function and Accelerator are "" for a job of the Python tool.
	Function    string
	Accelerator string
	// Python says that the Python tool made the job.
	Python bool
	// Node is the newest pod's, "" before it is placed and after it is gone.
	Node    string
	Created time.Time
	Status  api.Status
}

// allJobs selects the objects of all jobs.
const allJobs = api.LabelApp + " in (" + api.AppSingleHost + "," + api.AppPathways + ")," + api.LabelJobID

// List tells about all jobs of the namespace. Each kind of object is listed
// once, all at the same time, and of each object no more is kept than is told.
func (w *Workload) List(ctx context.Context, detail api.Detail) ([]Record, error) {
	known := newInventory(detail, w.client.now)
	g, gctx := errgroup.WithContext(ctx)
	var jobs []*batchv1.Job
	var sets []*metav1.PartialObjectMetadata
	var pods []*corev1.Pod
	g.Go(func() error {
		return pages(gctx, w.client, w.client.jobs(), allJobs, func(page *batchv1.JobList) {
			for i := range page.Items {
				jobs = append(jobs, trimmedJob(&page.Items[i]))
			}
		})
	})
	g.Go(func() error {
		err := pages(gctx, w.client, w.client.sets(), allJobs, func(page *metav1.PartialObjectMetadataList) {
			for i := range page.Items {
				sets = append(sets, &page.Items[i])
			}
		})
		if w.client.sets().lacks(err) {
			return nil
		}
		return err
	})
	if detail >= api.TellStates {
		g.Go(func() error {
			return pages(gctx, w.client, w.client.pods(), allJobs, func(page *corev1.PodList) {
				for i := range page.Items {
					pods = append(pods, trimmedPod(&page.Items[i]))
				}
			})
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if len(jobs)+len(sets) == 0 {
		return nil, w.client.missingNamespace(ctx)
	}
	for _, j := range jobs {
		known.put(j)
	}
	for _, s := range sets {
		known.put(s)
	}
	for _, p := range pods {
		known.put(p)
	}
	if detail >= api.TellReasons && known.waits() {
		if err := w.readEvents(ctx, known); err != nil {
			return nil, err
		}
	}
	return known.records(known.keys()), nil
}

// readEvents reads what tells why jobs wait. Who may not read events is told
// what the jobs and pods themselves say.
func (w *Workload) readEvents(ctx context.Context, into *inventory) error {
	err := pages(ctx, w.client, w.client.events(), "", func(page *corev1.EventList) {
		for i := range page.Items {
			into.put(&page.Items[i])
		}
	})
	if w.client.events().lacks(err) {
		return nil
	}
	return err
}

// pageSize is how many objects are in memory as the server sent them: kubectl's
// own. Thousands of whole Jobs are hundreds of megabytes.
const pageSize = 500

// pages reads all objects of a kind that have the labels, page by page.
func pages[T any, L interface {
	*T
	runtime.Object
	metav1.ListInterface
}](ctx context.Context, c *Client, k kind, labels string, take func(L)) error {
	o := metav1.ListOptions{LabelSelector: labels, Limit: pageSize}
	for {
		var page L = new(T)
		if err := c.list(ctx, k, o, page); err != nil {
			return err
		}
		take(page)
		if o.Continue = page.GetContinue(); o.Continue == "" {
			return nil
		}
	}
}

// trimmedJob is a copy with what a list tells.
func trimmedJob(j *batchv1.Job) *batchv1.Job {
	t := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: j.Name, Namespace: j.Namespace, UID: j.UID,
			CreationTimestamp: j.CreationTimestamp, DeletionTimestamp: j.DeletionTimestamp,
			Labels: j.Labels, Annotations: j.Annotations},
		Spec: batchv1.JobSpec{Suspend: j.Spec.Suspend, BackoffLimit: j.Spec.BackoffLimit, ActiveDeadlineSeconds: j.Spec.ActiveDeadlineSeconds,
			Completions: j.Spec.Completions, CompletionMode: j.Spec.CompletionMode, BackoffLimitPerIndex: j.Spec.BackoffLimitPerIndex},
		Status: batchv1.JobStatus{Conditions: j.Status.Conditions},
	}
	if (owner{job: j}).byPythonTool() {
		t.Spec.Template = j.Spec.Template // which names its bucket
	}
	return t
}

// trimmedPod is a copy without what tells nothing about the pod's state.
func trimmedPod(p *corev1.Pod) *corev1.Pod {
	t := *p
	t.ManagedFields, t.Spec.Volumes = nil, nil
	for _, containers := range [][]corev1.Container{t.Spec.InitContainers, t.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			c.Command, c.Args, c.Env, c.VolumeMounts = nil, nil, nil, nil
		}
	}
	return &t
}

// newRecord tells about a job.
func newRecord(o owner, pods []corev1.Pod, status api.Status) Record {
	m := o.meta()
	r := Record{
		ID: m.Labels[api.LabelJobID], Namespace: m.Namespace,
		Store:       m.Annotations[api.AnnotationStore],
		Function:    m.Annotations[api.AnnotationFunction],
		Accelerator: cmp.Or(m.Annotations[api.AnnotationAccelerator], m.Labels[api.LabelAccelerator]),
		Created:     m.CreationTimestamp.UTC(),
		Status:      status,
	}
	if o.byPythonTool() {
		r.Python, r.Store = true, pythonStore(o.job)
	}
	if pods = ofHost(pods, 0); len(pods) > 0 {
		r.Node = pods[len(pods)-1].Spec.NodeName
	}
	return r
}

// pythonStore is the bucket that the Python tool has told its runner. What is read
// of a LeaderWorkerSet doesn't tell.
func pythonStore(j *batchv1.Job) string {
	if j == nil {
		return ""
	}
	for _, c := range j.Spec.Template.Spec.Containers {
		for _, e := range c.Env {
			if e.Name == "GCS_BUCKET" && e.Value != "" {
				return "gs://" + e.Value
			}
		}
	}
	return ""
}
