package kube

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

func at(second int) metav1.Time {
	return metav1.NewTime(time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC))
}

// handleOf returns a handle that only has an id.
func handleOf(id string) api.Handle { return api.Handle{JobID: id} }

// pod returns one attempt, created at a second, whose container is in a state. A
// sidecar comes first, as on GKE with FUSE.
func pod(name string, made int, state corev1.ContainerState) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: at(made)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: api.ContainerName}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{Name: "sidecar", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			{Name: api.ContainerName, State: state},
		}},
	}
}

func waiting(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
}

func running(second int) corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(second)}}
}

func terminated(code int32, reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message,
		StartedAt: at(2), FinishedAt: at(5)}}
}

// aMap is a Job of 4 chunks, of which so many are done.
func aMap(done int32, conditions ...batchv1.JobCondition) *batchv1.Job {
	j := job(conditions...)
	j.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	j.Spec.Completions, j.Spec.BackoffLimitPerIndex = new(int32(4)), new(int32(0))
	j.Status.Succeeded = done
	return j
}

func job(conditions ...batchv1.JobCondition) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(0)}, Status: batchv1.JobStatus{Conditions: conditions}}
}

func failedCondition(kind batchv1.JobConditionType, reason, message string) batchv1.JobCondition {
	return batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: at(9)}
}

// lws is a LeaderWorkerSet of this program, with further annotations.
func lws(annotations ...string) *metav1.PartialObjectMetadata {
	s := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "keras-pathways-x", Namespace: "ml", UID: "the-set", CreationTimestamp: at(0),
		Labels: map[string]string{api.LabelJobID: "x"}, Annotations: map[string]string{api.AnnotationStore: "gs://team"}}}
	for i := 0; i < len(annotations); i += 2 {
		s.Annotations[annotations[i]] = annotations[i+1]
	}
	return s
}

// member is a pod of a set of two hosts.
func member(host, made int, state corev1.ContainerState) corev1.Pod {
	p := pod(fmt.Sprintf("h%d-%d", host, made), made, state)
	p.Labels = map[string]string{"leaderworkerset.sigs.k8s.io/worker-index": fmt.Sprint(host)}
	p.Annotations = map[string]string{"leaderworkerset.sigs.k8s.io/size": "2"}
	p.Spec.NodeName = "node"
	return p
}

func indexed(host int, state corev1.ContainerState) corev1.Pod {
	p := pod(fmt.Sprintf("h%d", host), 1, state)
	p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(host)}
	return p
}

// asWorkload is the workload that an object is.
func asWorkload(o metav1.Object) diagnose.Workload {
	if j, ok := o.(*batchv1.Job); ok {
		return diagnose.NewWorkload(diagnose.Job, j)
	}
	return diagnose.NewWorkload(diagnose.LeaderWorkerSet, o.(*metav1.PartialObjectMetadata))
}

// groupJob is a Job on two hosts.
func groupJob() *batchv1.Job {
	j := job()
	j.Spec.CompletionMode, j.Spec.Completions = new(batchv1.IndexedCompletion), new(int32(2))
	return j
}
