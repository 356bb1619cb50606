package diagnose

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Workload is the object that runs a job. The zero Workload means that it doesn't exist.
type Workload struct {
	kind *Kind
	meta *metav1.ObjectMeta
	job  *batchv1.Job // nil for other kinds
}

// NewWorkload returns the Workload of an object of a kind: of a whole Job, or of the
// metadata of another kind.
func NewWorkload(k *Kind, o runtime.Object) Workload {
	switch o := o.(type) {
	case *batchv1.Job:
		return Workload{kind: k, meta: &o.ObjectMeta, job: o}
	case *metav1.PartialObjectMetadata:
		w := Workload{kind: k, meta: &o.ObjectMeta}
		if k == LeaderWorkerSet && w.ByPythonTool() {
			w.kind = pythonLWS
		}
		return w
	}
	return Workload{}
}

// Exists reports whether the object exists.
func (w Workload) Exists() bool { return w.kind != nil }

// Kind returns the kind of an existing workload.
func (w Workload) Kind() *Kind {
	if w.kind == pythonLWS {
		return LeaderWorkerSet
	}
	return w.kind
}

// Meta returns the metadata of an existing workload.
func (w Workload) Meta() *metav1.ObjectMeta { return w.meta }

// IsOfOlder reports whether a pod was made by an older Job of the same ID, which leaves it until it has ended.
func (w Workload) IsOfOlder(p *corev1.Pod) bool {
	maker := metav1.GetControllerOfNoCopy(p)
	return maker != nil && maker.Kind == Job.Kind && maker.UID != w.meta.UID
}

// Queue returns the Kueue queue of a workload, "" if it has none.
func (w Workload) Queue() string { return w.meta.Labels[api.LabelQueue] }

// ByPythonTool reports whether the workload was made by keras-kinetic, which writes
// no annotations.
func (w Workload) ByPythonTool() bool { return w.meta.Annotations[api.AnnotationStore] == "" }

// PythonStore returns the store of a job of keras-kinetic: the bucket that a Job
// gives to its runner. It is "" if the workload doesn't say.
func (w Workload) PythonStore() string {
	if w.job == nil {
		return ""
	}
	for _, c := range w.job.Spec.Template.Spec.Containers {
		for _, e := range c.Env {
			if e.Name == "GCS_BUCKET" && e.Value != "" {
				return "gs://" + e.Value
			}
		}
	}
	return ""
}

// IsMap reports whether each pod makes calls of its own.
func (w Workload) IsMap() bool { return w.job != nil && w.job.Spec.BackoffLimitPerIndex != nil }

// State derives a job's state from its objects, without explanations that need events.
func (w Workload) State(pods []corev1.Pod) api.WorkloadStatus {
	if !w.Exists() {
		return api.WorkloadStatus{Status: api.Status{State: api.NotFound}}
	}
	return w.kind.rules.state(w, pods)
}

// Hosts returns how many pods take part in one call of the job, 0 if that is not known
// yet.
func (w Workload) Hosts(pods []corev1.Pod) int {
	if !w.Exists() {
		return 1
	}
	return w.kind.rules.hosts(w, pods)
}

// Completed returns how many pods of a Job have succeeded.
func (w Workload) Completed() int {
	if w.job == nil {
		return 0
	}
	return int(w.job.Status.Succeeded)
}

// AtATime returns how many pods the job, or map, has at a time. With the Pathways runtime, those with chips count.
func (w Workload) AtATime(pods []corev1.Pod) int {
	if w.IsMap() && w.job.Spec.Parallelism != nil {
		return int(*w.job.Spec.Parallelism)
	}
	if w.UsesPathways() {
		return max(w.Hosts(pods)-1, 0)
	}
	return w.Hosts(pods)
}

// UsesPathways reports whether the job has the Pathways runtime.
func (w Workload) UsesPathways() bool { return w.meta.Annotations[api.AnnotationPathways] != "" }

func (w Workload) isDeleted() bool { return w.meta.DeletionTimestamp != nil }

// Waits reports whether a job with this state, or a part of it, has yet to start.
func (w Workload) Waits(s api.Status, pods []corev1.Pod) bool {
	return w.Exists() && (s.State == api.Pending || s.State == api.Running && s.Message == "" && w.lacksHosts(pods))
}

// lacksHosts reports whether some hosts of a job on several hosts have yet to start.
func (w Workload) lacksHosts(pods []corev1.Pod) bool {
	hosts, newest := w.Hosts(pods), NewestOfHosts(pods)
	return hosts > 1 && (len(newest) < hosts || slices.ContainsFunc(newest, func(p corev1.Pod) bool {
		return !hasEnded(p) && WorkerOf(p).State.Running == nil
	}))
}
