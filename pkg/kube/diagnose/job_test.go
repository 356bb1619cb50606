package diagnose

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func at(second int) metav1.Time {
	return metav1.NewTime(time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC))
}

// pod is one attempt, made at a second, whose container is in a state. A
// sidecar comes first, as on GKE with FUSE.
// plain is a status without a pod.
func plain(s api.Status) api.WorkloadStatus { return api.WorkloadStatus{Status: s} }

// inPod is the status of a job that runs in a pod.
func inPod(pod string, s api.Status) api.WorkloadStatus {
	return api.WorkloadStatus{Status: s, CurrentPod: api.CurrentPod{Pod: pod}}
}

// inLatePod is that of a pod which may not be the first.
func inLatePod(pod string, s api.Status) api.WorkloadStatus {
	return api.WorkloadStatus{Status: s, CurrentPod: api.CurrentPod{Pod: pod, MayHaveEarlierPods: true}}
}

func pod(name string, made int, state corev1.ContainerState) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: at(made)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: api.ContainerName, Resources: corev1.ResourceRequirements{
			Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")}}}}},
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

// brokenMap is a map of which all chunks but one have failed.
func brokenMap() *batchv1.Job {
	j := aMap(1, failedCondition(batchv1.JobFailed, "FailedIndexes", "Job has failed indexes"))
	j.Status.FailedIndexes = new("0,2-3")
	return j
}

func TestStateOfMap(t *testing.T) {
	two, nine := at(2).UTC(), at(9).UTC()
	complete := batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: at(9)}
	done := pod("a", 1, terminated(0, "Completed", ""))
	tests := map[string]struct {
		job  *batchv1.Job
		pods []corev1.Pod
		want api.WorkloadStatus
	}{
		"no pod yet":              {aMap(0), nil, plain(api.Status{State: api.Pending})},
		"pods that wait":          {aMap(0), []corev1.Pod{pod("a", 1, waiting("ContainerCreating"))}, plain(api.Status{State: api.Pending, Attempt: 1})},
		"a pod is done, of many":  {aMap(1), []corev1.Pod{done}, plain(api.Status{State: api.Running, Attempt: 1, Started: two, Message: "map, 1 of 4 chunks done"})},
		"between two pods":        {aMap(2), nil, plain(api.Status{State: api.Running, Message: "map, 2 of 4 chunks done"})},
		"the earliest pod counts": {aMap(0), []corev1.Pod{pod("b", 1, running(7)), done, pod("c", 1, waiting("x"))}, plain(api.Status{State: api.Running, Attempt: 1, Started: two, Message: "map, 0 of 4 chunks done"})},
		"being removed":           {deleted(aMap(1)), []corev1.Pod{done}, plain(api.Status{State: api.Running, Attempt: 1, Started: two, Message: ending})},
		"chunks failed, whose pods are gone": {brokenMap(), []corev1.Pod{done},
			plain(api.Status{State: api.Failed, Reason: api.Killed, Attempt: 1, Started: two, Finished: nine, Message: "3 of 4 chunks failed: 0,2-3"})},
		"chunks failed, and the first pod tells": {brokenMap(), []corev1.Pod{indexed(3, terminated(125, "Error", "")), indexed(2, terminated(137, "OOMKilled", "")), indexed(1, terminated(0, "Completed", ""))},
			plain(api.Status{State: api.Failed, Reason: api.Killed, Attempt: 1, Started: two, Finished: nine, ExitCode: new(137),
				Message: "3 of 4 chunks failed: 0,2-3; chunk 2: out of memory: it used all of its 2Gi; request more with --memory"})},
		"a chunk that took too long": {brokenMap(), []corev1.Pod{indexed(2, terminated(124, "Error", `{"state":"FAILED","reason":"DeadlineExceeded","message":"f.py:f ran longer than the 3 seconds of --max-runtime","exit_code":124}`))},
			plain(api.Status{State: api.Failed, Reason: api.Killed, Attempt: 1, Started: two, Finished: nine, ExitCode: new(124),
				Message: "3 of 4 chunks failed: 0,2-3; chunk 2: f.py:f ran longer than the 3 seconds of --max-runtime, which is for a whole chunk"})},
		"all done": {aMap(4, complete), []corev1.Pod{done}, plain(api.Status{State: api.Succeeded, Reason: api.Completed, Attempt: 1, Started: two, Finished: nine})},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, workloadOf(tt.job).State(tt.pods)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func job(conditions ...batchv1.JobCondition) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(0)}, Status: batchv1.JobStatus{Conditions: conditions}}
}

// raised is how a container ends whose call raised an exception.
var raised = terminated(1, "Error", `{"version":1,"state":"FAILED","reason":"Exception","message":"OSError: timed out","exit_code":1}`)

// retriesErrors is a Job of --retry-on error.
func retriesErrors(retries int32, conditions ...batchv1.JobCondition) *batchv1.Job {
	j := job(conditions...)
	j.Spec.BackoffLimit = &retries
	j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}},
		{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: new(api.ContainerName), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{124}}},
	}}
	return j
}

// DURATION counts from the start of the first attempt that has begun, whatever became of it.
func TestARetriedJobCountsFromItsFirstStart(t *testing.T) {
	killed, lost := terminated(137, "OOMKilled", ""), pod("a", 1, waiting("ContainerCreating"))
	over := failedCondition(batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	for name, tt := range map[string]struct {
		job               runtime.Object
		pods              []corev1.Pod
		started, finished metav1.Time
	}{
		"the second attempt runs":                      {job(), []corev1.Pod{pod("a", 1, killed), pod("b", 6, running(7))}, at(2), metav1.Time{}},
		"the second waits":                             {job(), []corev1.Pod{pod("a", 1, killed), pod("b", 6, waiting("x"))}, at(2), metav1.Time{}},
		"the first pod was lost before it began":       {job(), []corev1.Pod{lost, pod("b", 6, running(7))}, at(7), metav1.Time{}},
		"the first group was lost before it began":     {lws(), []corev1.Pod{member(0, 1, waiting("x")), member(0, 6, running(7))}, at(7), metav1.Time{}},
		"all were killed":                              {job(over), []corev1.Pod{pod("a", 1, killed), pod("b", 6, killed)}, at(2), at(9)},
		"the second raised an error":                   {job(), []corev1.Pod{pod("a", 1, killed), pod("b", 6, raised)}, at(2), at(5)},
		"the second tells when the first, gone, began": {job(), []corev1.Pod{pod("b", 6, terminated(0, "Completed", `{"version":1,"state":"SUCCEEDED","reason":"Completed","started":"2026-01-01T00:00:01Z","finished":"2026-01-01T00:00:08Z"}`))}, at(1), at(8)},
	} {
		s := workloadOf(tt.job).State(tt.pods)
		if !s.Started.Equal(tt.started.Time) || !s.Finished.Equal(tt.finished.Time) {
			t.Errorf("%s: from %v to %v, want from %v to %v", name, s.Started, s.Finished, tt.started, tt.finished)
		}
	}
}

func deleted(j *batchv1.Job) *batchv1.Job {
	j.DeletionTimestamp = new(at(8))
	return j
}

func failedCondition(kind batchv1.JobConditionType, reason, message string) batchv1.JobCondition {
	return batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: at(9)}
}

func TestStateOf(t *testing.T) {
	code := func(n int) *int { return &n }
	two, five, nine := at(2).UTC(), at(5).UTC(), at(9).UTC()
	later := terminated(137, "OOMKilled", "")
	later.Terminated.StartedAt = at(4)
	tests := map[string]struct {
		job  *batchv1.Job
		pods []corev1.Pod
		want api.WorkloadStatus
	}{
		"no Job":        {nil, []corev1.Pod{pod("a", 1, running(2))}, plain(api.Status{State: api.NotFound})},
		"no pod yet":    {job(), nil, plain(api.Status{State: api.Pending})},
		"not scheduled": {job(), []corev1.Pod{{}}, plain(api.Status{State: api.Pending, Attempt: 1})},
		"being created": {job(), []corev1.Pod{pod("a", 1, waiting("ContainerCreating"))}, plain(api.Status{State: api.Pending, Attempt: 1})},
		"running":       {job(), []corev1.Pod{pod("a", 1, running(2))}, inPod("a", api.Status{State: api.Running, Attempt: 1, Started: two})},
		"over before the Job controller knows": {job(), []corev1.Pod{pod("a", 1, terminated(0, "Completed", ""))},
			plain(api.Status{State: api.Succeeded, Reason: api.Completed, ExitCode: code(0), Attempt: 1, Started: two, Finished: five})},
		"the runner's own words": {job(), []corev1.Pod{pod("a", 1, terminated(1, "Error",
			`{"version":1,"state":"FAILED","reason":"Exception","message":"ValueError: bad","exit_code":1,"attempt":3,"started":"2026-01-01T00:00:01Z","finished":"2026-01-01T00:00:04.5Z"}`))},
			plain(api.Status{State: api.Failed, Reason: api.Exception, Message: "ValueError: bad", ExitCode: code(1), Attempt: 3, Started: at(1).UTC(), Finished: five.Add(-500 * time.Millisecond)})},
		"words that contradict the exit code are nobody's": {job(), []corev1.Pod{pod("a", 1, terminated(7, "Error", `{"state":"SUCCEEDED"}`))},
			plain(api.Status{State: api.Failed, Reason: api.ExitCode, ExitCode: code(7), Attempt: 1, Started: two, Finished: five})},
		"told to end, and saving": {deleted(job()), []corev1.Pod{pod("a", 1, running(2))},
			plain(api.Status{State: api.Running, Message: ending, Attempt: 1, Started: two})},
		"told to end, and its container has ended": {deleted(job()), []corev1.Pod{pod("a", 1, terminated(143, "Error", ""))},
			plain(api.Status{State: api.Running, Message: ending, Attempt: 1, Started: two})},
		"told to end, and done before": {deleted(job()), []corev1.Pod{pod("a", 1, terminated(0, "Completed", ""))},
			plain(api.Status{State: api.Succeeded, Reason: api.Completed, ExitCode: code(0), Attempt: 1, Started: two, Finished: five})},
		"told to end, and its pod has not begun": {deleted(job()), []corev1.Pod{pod("a", 1, waiting("ContainerCreating"))},
			plain(api.Status{State: api.Pending, Attempt: 1})},
		"told to end, nothing has run": {deleted(job()), nil, plain(api.Status{State: api.Pending})},
		"killed, and will start again": {job(), []corev1.Pod{pod("a", 1, terminated(137, "OOMKilled", ""))},
			plain(api.Status{State: api.Pending, Attempt: 1, Started: two})},
		"a pod that is so late may not be the first": {job(), []corev1.Pod{pod("b", 20, running(21))},
			inLatePod("b", api.Status{State: api.Running, Attempt: 1, Started: at(21).UTC()})},
		"the second attempt runs": {job(), []corev1.Pod{pod("b", 6, running(7)), pod("a", 1, terminated(137, "OOMKilled", ""))},
			inPod("b", api.Status{State: api.Running, Attempt: 2, Started: two})},
		"the second attempt ended it": {job(), []corev1.Pod{pod("a", 1, terminated(143, "Error", "")), pod("b", 6, terminated(0, "Completed", ""))},
			plain(api.Status{State: api.Succeeded, Reason: api.Completed, ExitCode: code(0), Attempt: 2, Started: two, Finished: five})},
		"retries used up": {job(failedCondition(batchv1.JobFailed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")),
			[]corev1.Pod{pod("a", 1, terminated(137, "OOMKilled", "")), pod("b", 6, later)},
			plain(api.Status{State: api.Failed, Reason: api.Killed, Message: "out of memory: it used all of its 2Gi; request more with --memory",
				ExitCode: code(137), Attempt: 2, Started: two, Finished: nine})},
		"raised, and is retried": {retriesErrors(2), []corev1.Pod{pod("a", 1, raised)},
			plain(api.Status{State: api.Pending, Attempt: 1, Started: two})},
		"raised, and runs again": {retriesErrors(2), []corev1.Pod{pod("a", 1, raised), pod("b", 6, running(7))},
			inPod("b", api.Status{State: api.Running, Attempt: 2, Started: two})},
		"raised, then returned": {retriesErrors(2), []corev1.Pod{pod("a", 1, raised), pod("b", 6, terminated(0, "Completed", ""))},
			plain(api.Status{State: api.Succeeded, Reason: api.Completed, ExitCode: code(0), Attempt: 2, Started: two, Finished: five})},
		"raised until the retries were used up": {
			retriesErrors(1, failedCondition(batchv1.JobFailed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")),
			[]corev1.Pod{pod("a", 1, raised), pod("b", 6, raised)},
			plain(api.Status{State: api.Failed, Reason: api.Exception, Message: "OSError: timed out", ExitCode: code(1), Attempt: 2, Started: two, Finished: five})},
		"ran out of time, which is not retried": {retriesErrors(2), []corev1.Pod{pod("a", 1, terminated(124, "Error", ""))},
			plain(api.Status{State: api.Failed, Reason: api.ExitCode, ExitCode: code(124), Attempt: 1, Started: two, Finished: five})},
		"about to fail, its pods gone": {job(failedCondition(batchv1.JobFailureTarget, "DeadlineExceeded", "Job was active longer than specified deadline")), nil,
			plain(api.Status{State: api.Failed, Reason: api.DeadlineExceeded, Message: "the job's time limit was exceeded", Finished: nine})},
		"failed, its pod gone": {job(failedCondition(batchv1.JobFailed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")), nil,
			plain(api.Status{State: api.Failed, Reason: api.Killed, Message: "its pod was deleted by someone else, or was removed after it had failed", Finished: nine})},
		"complete, its pods gone": {job(failedCondition(batchv1.JobComplete, "", "")), nil,
			plain(api.Status{State: api.Succeeded, Reason: api.Completed, Finished: nine})},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, workloadOf(tt.job).State(tt.pods)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A job that nothing will run of any more has not ended for its cluster, but doesn't wait.
func TestEnds(t *testing.T) {
	oom := terminated(137, "OOMKilled", "")
	limited := func(retries int32) *batchv1.Job {
		j := job()
		j.Spec.BackoffLimit = &retries
		return j
	}
	lost := pod("a", 1, oom)
	lost.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager"}}
	tests := map[string]struct {
		job  *batchv1.Job
		pods []corev1.Pod
		want bool
	}{
		"there is no job":           {nil, nil, false},
		"nothing has begun":         {limited(0), nil, false},
		"it starts":                 {limited(0), []corev1.Pod{pod("a", 1, waiting("ContainerCreating"))}, false},
		"it crashed":                {limited(0), []corev1.Pod{pod("a", 1, oom)}, true},
		"another attempt follows":   {limited(1), []corev1.Pod{pod("a", 1, oom)}, false},
		"and starts":                {limited(1), []corev1.Pod{pod("a", 1, oom), pod("b", 6, waiting("ContainerCreating"))}, false},
		"and was the last":          {limited(1), []corev1.Pod{pod("a", 1, oom), pod("b", 6, oom)}, true},
		"it raised, and is retried": {retriesErrors(1), []corev1.Pod{pod("a", 1, raised)}, false},
		"it raised once too often":  {retriesErrors(1), []corev1.Pod{pod("a", 1, raised), pod("b", 6, raised)}, true},
		"it lost its node":          {limited(0), []corev1.Pod{lost}, false},
		"it is told to end":         {deleted(limited(3)), nil, true},
		"hosts start":               {groupJob(), []corev1.Pod{indexed(0, waiting("ContainerCreating")), indexed(1, running(2))}, false},
		"one of the hosts is lost":  {groupJob(), []corev1.Pod{indexed(0, oom), indexed(1, running(2))}, true},
		"the same while it starts":  {deleted(limited(3)), []corev1.Pod{pod("a", 1, waiting("ContainerCreating"))}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (Observation{Workload: workloadOf(tt.job), Pods: tt.pods}).isEnding(); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
