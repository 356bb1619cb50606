package diagnose

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// ending is the message for a workload that is being deleted and stays until its pods are
// gone.
const ending = "ending: saving outputs and logs"

type jobRules struct{}

// state implements rules. A Job is up to a second behind its pods, so a runner that has
// reported the end of the call has ended the job. With several hosts, host 0 reports it.
func (jobRules) state(w Workload, pods []corev1.Pod) api.WorkloadStatus {
	if w.IsMap() {
		return api.WorkloadStatus{Status: w.stateOfMap(pods)}
	}
	leaders := byAge(pods)
	if w.isMultiHost() {
		leaders = Leaders(pods)
	}
	s := api.WorkloadStatus{Status: api.Status{State: api.Pending, Attempt: len(leaders), Started: firstStart(leaders)}}
	for i, p := range leaders {
		if t := WorkerOf(p).State.Terminated; t != nil && w.isFinal(t.ExitCode) {
			return api.WorkloadStatus{Status: ended(t, i+1, s.Started)}
		}
	}
	var last corev1.Pod
	if n := len(leaders); n > 0 {
		last = leaders[n-1]
	}
	if end := w.end(); end != nil {
		if t := WorkerOf(last).State.Terminated; t != nil && isReported(t.ExitCode) && end.Reason == batchv1.JobReasonBackoffLimitExceeded {
			return api.WorkloadStatus{Status: ended(t, len(leaders), s.Started)}
		}
		if w.isMultiHost() && end.Type == batchv1.JobFailureTarget && WorkerOf(last).State.Running != nil {
			s.State, s.Message = api.Running, ending // it will report why
			return s
		}
		return api.WorkloadStatus{Status: w.endedBy(end, pods, len(leaders))}
	}
	switch {
	case w.isDeleted() && slices.ContainsFunc(leaders, HasStarted):
		// No other attempt follows, even if this one's container has ended.
		s.State, s.Message = api.Running, ending
	case WorkerOf(last).State.Running != nil:
		s.State, s.CurrentPod = api.Running, api.CurrentPod{Pod: string(last.UID), MayHaveEarlierPods: mayHaveEarlier(leaders[0], w.meta)}
	}
	return s
}

func (jobRules) hosts(w Workload, _ []corev1.Pod) int {
	if w.isMultiHost() {
		return int(*w.job.Spec.Completions)
	}
	return 1
}

// heldBack implements rules: a held-back Job is suspended.
func (jobRules) heldBack(w Workload, _ []corev1.Pod) bool {
	return w.job.Spec.Suspend != nil && *w.job.Spec.Suspend
}

// podSets implements rules. The pods of a map don't need each other.
func (jobRules) podSets(workload *unstructured.Unstructured) ([]PodSet, error) {
	var job batchv1.Job
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(workload.Object, &job)
	hosts := NewWorkload(Job, &job).Hosts(nil)
	return []PodSet{{int64(hosts), job.Spec.Template.Spec}}, err
}

// isMultiHost reports whether a Job's pods are the hosts of one call. The pods of a map
// have indexes, too, but are not.
func (w Workload) isMultiHost() bool {
	if w.job == nil {
		return false
	}
	mode := w.job.Spec.CompletionMode
	return mode != nil && *mode == batchv1.IndexedCompletion && !w.IsMap() && w.job.Spec.Completions != nil
}

// stateOfMap returns the state of a Job of many calls. No single pod knows when it ends.
func (w Workload) stateOfMap(pods []corev1.Pod) api.Status {
	started := firstStart(pods)
	s := api.Status{State: api.Pending, Attempt: min(len(pods), 1), Started: started}
	switch last := w.end(); {
	case last != nil:
		s = w.endedBy(last, pods, 1)
		s.Started = started
	case !w.isDeleted() && w.allDone(pods):
		s.State, s.Reason, s.Finished = api.Succeeded, api.Completed, lastFinish(pods)
	case started.IsZero() && w.job.Status.Succeeded == 0: // else the next pods wait
	case w.isDeleted():
		s.State, s.Message = api.Running, ending
	default:
		s.State, s.Message = api.Running, chunksDone(w.job)
	}
	s.Hashes = reportedHashes(pods)
	return s
}

// chunksDone returns a map's progress as far as its Job knows it, without the results.
func chunksDone(j *batchv1.Job) string {
	if j.Spec.Completions == nil {
		return ""
	}
	return fmt.Sprintf("map, %d of %d chunks done", j.Status.Succeeded, *j.Spec.Completions)
}

// isReported reports whether an exit code is the runner's report of how the call ended:
// the call's own exit code, or that of --max-runtime.
func isReported(code int32) bool { return code >= 0 && code <= api.Contract.Exits.Deadline }

// isFinal reports whether a worker's exit code ends the job, so that nothing runs again.
// With --retry-on error, the Job retries errors of the call itself.
func (w Workload) isFinal(code int32) bool {
	return isReported(code) && (code == 0 || !w.retries(code))
}

// retries reports whether a Job counts an exit code against its retries, if it has any.
func (w Workload) retries(code int32) bool {
	if w.job == nil || w.job.Spec.BackoffLimit == nil || *w.job.Spec.BackoffLimit == 0 {
		return false
	}
	policy := w.job.Spec.PodFailurePolicy
	return policy == nil || !slices.ContainsFunc(policy.Rules, func(r batchv1.PodFailurePolicyRule) bool {
		return r.Action == batchv1.PodFailurePolicyActionFailJob && r.OnExitCodes != nil &&
			slices.Contains(r.OnExitCodes.Values, code) == (r.OnExitCodes.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn)
	})
}

// ended returns the status of a job whose runner ended with a final exit code.
func ended(t *corev1.ContainerStateTerminated, attempt int, started time.Time) api.Status {
	code := int(t.ExitCode)
	s := api.Status{State: api.Failed, Reason: api.ExitCode, ExitCode: &code, Attempt: attempt, Started: started, Finished: t.FinishedAt.UTC()}
	if code == 0 {
		s.State, s.Reason = api.Succeeded, api.Completed
	}
	var message api.End // which the runner's message is a part of
	if json.Unmarshal([]byte(t.Message), &message) != nil || message.State != s.State {
		return s
	}
	s.Reason, s.Message, s.Attempt = message.Reason, message.Message, cmp.Or(message.Attempt, attempt)
	s.Reported = message.Pickle
	s.ExitCode = &message.ExitCode
	if !message.Started.IsZero() {
		s.Started = message.Started // of the first attempt, whose pod may be gone
	}
	if !message.Finished.IsZero() {
		s.Finished = message.Finished
	}
	return s
}

// end returns the condition that ends a Job or announces its end; nil for other kinds.
func (w Workload) end() *batchv1.JobCondition {
	if w.job == nil {
		return nil
	}
	for _, c := range w.job.Status.Conditions {
		switch c.Type {
		case batchv1.JobComplete, batchv1.JobFailed, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet:
			if c.Status == corev1.ConditionTrue {
				return &c
			}
		}
	}
	return nil
}

// endedBy returns the status of a Job that ended without a runner's report: because of
// crashes and lost machines until the retries were used up.
func (w Workload) endedBy(c *batchv1.JobCondition, pods []corev1.Pod, attempts int) api.Status {
	s := api.Status{State: api.Failed, Reason: api.Killed, Attempt: attempts, Finished: c.LastTransitionTime.UTC()}
	switch {
	case c.Type == batchv1.JobComplete || c.Type == batchv1.JobSuccessCriteriaMet:
		s.State, s.Reason = api.Succeeded, api.Completed
		return s
	case c.Reason == batchv1.JobReasonDeadlineExceeded:
		s.Reason = api.DeadlineExceeded
	}
	s.Message = cmp.Or(Observation{Workload: w, Pods: pods}.Explain().Sentence, c.Message)
	s.Started = firstStart(pods)
	if p := w.exitPod(pods); p != nil {
		if t := WorkerOf(*p).State.Terminated; t != nil {
			s.ExitCode = new(int(t.ExitCode))
		}
	}
	return s
}

// exitPod returns the pod whose exit code is the failed Job's exit code, nil if there is
// none.
func (w Workload) exitPod(pods []corev1.Pod) *corev1.Pod {
	switch {
	case w.IsMap():
		return firstFailed(pods)
	case len(pods) == 0 || w.lostHost(pods) >= 0:
		return nil
	}
	return new(decidingPod(pods))
}
