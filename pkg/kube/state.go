package kube

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// stateOf derives a job's status from its Job and pods: no Job is NotFound. The
// pods are ahead of the Job, whose controller looks at them in steps of a second:
// a runner that has said how the call ended has ended the job. Of several hosts it
// is host 0 that says so.
func stateOf(j *batchv1.Job, pods []corev1.Pod) api.Status {
	if j == nil {
		return api.Status{State: api.NotFound}
	}
	if isMap(j) {
		return stateOfMap(j, pods)
	}
	leaders := byAge(pods)
	if isGroup(j) {
		leaders = leadersOf(pods)
	}
	s := api.Status{State: api.Pending, Attempt: len(leaders)}
	for i, p := range leaders {
		worker := workerOf(p)
		if i == 0 {
			s.Started = startOf(worker)
		}
		if t := worker.State.Terminated; t != nil && final(t.ExitCode) {
			return ended(t, i+1, s.Started)
		}
	}
	var last corev1.Pod
	if n := len(leaders); n > 0 {
		last = leaders[n-1]
	}
	if end := jobEnd(j); end != nil {
		if isGroup(j) && end.Type == batchv1.JobFailureTarget && workerOf(last).State.Running != nil {
			s.State, s.Message = api.Running, ending // it will tell why
			return s
		}
		return jobEnded(j, end, pods, len(leaders))
	}
	switch {
	case j.DeletionTimestamp != nil && slices.ContainsFunc(leaders, hasPrinted): // no other attempt follows, even if this one's container has ended
		s.State, s.Message = api.Running, ending
	case workerOf(last).State.Running != nil:
		s.State, s.Pod, s.Late = api.Running, string(last.UID), late(leaders[0], &j.ObjectMeta)
	}
	return s
}

// soon is how long after its job a pod is made that is taken for the first. Whatever
// ran before it did not run for longer.
const soon = 10 * time.Second

// late tells of the first of a job's pods that are there whether others may have been
// before it.
func late(p corev1.Pod, owner *metav1.ObjectMeta) bool {
	return p.CreationTimestamp.Sub(owner.CreationTimestamp.Time) > soon
}

// stateOfMap is stateOf for a Job of many calls, of which no pod tells the end.
func stateOfMap(j *batchv1.Job, pods []corev1.Pod) api.Status {
	started := firstStart(pods)
	s := api.Status{State: api.Pending, Attempt: min(len(pods), 1), Started: started}
	switch last := jobEnd(j); {
	case last != nil:
		s = jobEnded(j, last, pods, 1)
		s.Started = started
	case started.IsZero() && j.Status.Succeeded == 0: // else the next pods wait
	case j.DeletionTimestamp != nil:
		s.State, s.Message = api.Running, ending
	default:
		s.State, s.Message = api.Running, chunksDone(j)
	}
	return s
}

// firstStart is when the first of the pods that are there began; zero where none has.
func firstStart(pods []corev1.Pod) time.Time {
	var first time.Time
	for _, p := range pods {
		if started := startOf(workerOf(p)); first.IsZero() || !started.IsZero() && started.Before(first) {
			first = started
		}
	}
	return first
}

// chunksDone says how far a map is, as its Job knows without its results.
func chunksDone(j *batchv1.Job) string {
	if j.Spec.Completions == nil {
		return ""
	}
	return fmt.Sprintf("map, %d of %d chunks done", j.Status.Succeeded, *j.Spec.Completions)
}

// final exit codes of the runner are those after which nothing runs again: the
// call's own, and max-runtime.
func final(code int32) bool { return code >= 0 && code <= api.ExitDeadline }

// byAge sorts pods by their creation, that is by attempt.
func byAge(pods []corev1.Pod) []corev1.Pod {
	sorted := slices.Clone(pods)
	slices.SortFunc(sorted, func(a, b corev1.Pod) int { return compareAges(&a, &b) })
	return sorted
}

func compareAges(a, b *corev1.Pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// workerOf is the status of the container that runs the call. It is looked up
// by name: sidecars may come first.
func workerOf(p corev1.Pod) corev1.ContainerStatus {
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == api.ContainerName {
			return c
		}
	}
	return corev1.ContainerStatus{}
}

func startOf(c corev1.ContainerStatus) time.Time {
	switch {
	case c.State.Running != nil:
		return c.State.Running.StartedAt.UTC()
	case c.State.Terminated != nil:
		return c.State.Terminated.StartedAt.UTC()
	default:
		return time.Time{}
	}
}

// summary is the runner's termination message.
type summary struct {
	State    api.State  `json:"state"`
	Reason   api.Reason `json:"reason"`
	Message  string     `json:"message"`
	ExitCode int        `json:"exit_code"`
	Attempt  int        `json:"attempt"`
	Started  time.Time  `json:"started"`
	Finished time.Time  `json:"finished"`
}

// ended is the status that a runner with a final exit code leaves.
func ended(t *corev1.ContainerStateTerminated, attempt int, started time.Time) api.Status {
	code := int(t.ExitCode)
	s := api.Status{State: api.Failed, Reason: api.ExitCode, ExitCode: &code, Attempt: attempt, Started: started, Finished: t.FinishedAt.UTC()}
	if code == 0 {
		s.State, s.Reason = api.Succeeded, api.Completed
	}
	var told summary
	if json.Unmarshal([]byte(t.Message), &told) != nil || told.State != s.State {
		return s
	}
	s.Reason, s.Message, s.Attempt = told.Reason, told.Message, cmp.Or(told.Attempt, attempt)
	s.ExitCode = &told.ExitCode
	if !told.Started.IsZero() {
		s.Started = told.Started // of the first attempt, whose pod may be gone
	}
	if !told.Finished.IsZero() {
		s.Finished = told.Finished
	}
	return s
}

// jobEnd is the condition that ends a Job, or announces the end.
func jobEnd(j *batchv1.Job) *batchv1.JobCondition {
	for _, c := range j.Status.Conditions {
		switch c.Type {
		case batchv1.JobComplete, batchv1.JobFailed, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet:
			if c.Status == corev1.ConditionTrue {
				return &c
			}
		}
	}
	return nil
}

// jobEnded is the status of a Job that has ended without a final word of a
// runner: crashes and lost machines until the retries were used up.
func jobEnded(j *batchv1.Job, c *batchv1.JobCondition, pods []corev1.Pod, attempts int) api.Status {
	s := api.Status{State: api.Failed, Reason: api.Killed, Attempt: attempts, Finished: c.LastTransitionTime.UTC()}
	switch {
	case c.Type == batchv1.JobComplete || c.Type == batchv1.JobSuccessCriteriaMet:
		s.State, s.Reason = api.Succeeded, api.Completed
		return s
	case c.Reason == batchv1.JobReasonDeadlineExceeded:
		s.Reason = api.DeadlineExceeded
	}
	s.Message = cmp.Or(why(situation{Job: j, Pods: pods}).Sentence, c.Message)
	s.Started = firstStart(pods)
	if p := teller(j, pods); p != nil {
		if t := workerOf(*p).State.Terminated; t != nil {
			s.ExitCode = new(int(t.ExitCode))
		}
	}
	return s
}

// teller is the pod whose exit code is that of a Job that failed, nil where none is.
func teller(j *batchv1.Job, pods []corev1.Pod) *corev1.Pod {
	switch {
	case isMap(j):
		return firstFailed(pods)
	case len(pods) == 0 || lostHost(j, pods) >= 0:
		return nil
	}
	return new(decisive(pods))
}

func memoryLimit(p corev1.Pod) string {
	for _, c := range p.Spec.Containers {
		if q, ok := c.Resources.Limits[corev1.ResourceMemory]; ok && c.Name == api.ContainerName {
			return q.String()
		}
	}
	return ""
}
