package joblist

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

func TestPodLeavesTheObjectAsItIs(t *testing.T) {
	p := corev1.Pod{}
	p.Spec.Containers = []corev1.Container{{Name: "worker", Args: []string{"--call"}}}
	p.Spec.Volumes = []corev1.Volume{{Name: "scratch"}, {Name: "data", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "d"}}}}
	kept := Pod(&p)
	if kept.Spec.Containers[0].Args != nil || kept.Spec.Containers[0].Name != "worker" {
		t.Errorf("kept %v", kept.Spec.Containers)
	}
	if v := kept.Spec.Volumes; len(v) != 1 || v[0].Name != "data" {
		t.Errorf("kept the volumes %v, want that of a CSI driver", v)
	}
	if p.Spec.Containers[0].Args == nil || len(p.Spec.Volumes) != 2 || p.Spec.Volumes[0].Name != "scratch" {
		t.Error("the pod itself has changed")
	}
}

// A job that is deleted loses its pods first. What is left looks like a job that waits, but is
// marked as deleted.
func TestSummariesOfADeletedJob(t *testing.T) {
	runs := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
		{Name: api.ContainerName, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}}}}
	exists, deleted := &batchv1.Job{}, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Now())}}
	for i, step := range []struct {
		job     *batchv1.Job
		pods    []corev1.Pod
		state   api.State
		deleted bool
	}{
		{exists, []corev1.Pod{runs}, api.Running, false},
		{deleted, []corev1.Pod{runs}, api.Running, true},
		{deleted, nil, api.Pending, true},
	} {
		w := diagnose.NewWorkload(diagnose.Job, Job(step.job))
		if got := Summary(w, step.pods, w.State(step.pods)); got.State != step.state || got.Workload.Deleted != step.deleted {
			t.Errorf("step %d: %s, deleted %v; want %s, %v", i, got.State, got.Workload.Deleted, step.state, step.deleted)
		}
	}
}

func TestSummaryHasTheCostLimit(t *testing.T) {
	for text, want := range map[string]float64{"": 0, "12.5": 12.5, "much": 0} {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{api.AnnotationMaxCost: text}}}
		w := diagnose.NewWorkload(diagnose.Job, Job(j))
		if got := Summary(w, nil, w.State(nil)).MaxCost; got != want {
			t.Errorf("%q: got %g, want %g", text, got, want)
		}
	}
}

func TestSummaryOfAMap(t *testing.T) {
	began := time.Date(2026, 4, 17, 12, 0, 0, 0, time.UTC)
	ran := func(minutes int, code int32) corev1.Pod {
		end := metav1.NewTime(began.Add(time.Duration(minutes) * time.Minute))
		return corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: api.ContainerName,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: metav1.NewTime(began), FinishedAt: end, ExitCode: code}}}}}}
	}
	runs := corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: api.ContainerName,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(began)}}}}}}
	job := &batchv1.Job{Spec: batchv1.JobSpec{BackoffLimitPerIndex: new(int32(0)), Completions: new(int32(5)), Parallelism: new(int32(2))}, Status: batchv1.JobStatus{Succeeded: 1}}
	w := diagnose.NewWorkload(diagnose.Job, job)
	for name, tt := range map[string]struct {
		pods       []corev1.Pod
		minutes    int // an hour after the start
		incomplete bool
	}{
		"ended and running":  {[]corev1.Pod{ran(10, 0), ran(5, 1), runs, runs}, 135, false},
		"a pod that is gone": {[]corev1.Pod{runs}, 60, true},
	} {
		got := Summary(w, tt.pods, w.State(tt.pods)).Workload.PodTime
		if got == nil || got.At(began.Add(time.Hour)) != time.Duration(tt.minutes)*time.Minute || got.Incomplete != tt.incomplete {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := Summary(w, []corev1.Pod{{}}, w.State(nil)).Workload.PodTime; got != nil {
		t.Errorf("got %+v without a pod that ran", got)
	}
}
