package diagnose

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

const (
	lowOn    = `low on resource: ([a-z-]+)`
	wasUsing = `(?:Container|Pod) (\S+) was using ([0-9.]+[A-Za-z]*), request is ([0-9.]+[A-Za-z]*)`
)

// explainFailure explains a failed Job by its last pod; success needs no explanation.
func (s Observation) explainFailure(end *batchv1.JobCondition) Diagnosis {
	if end.Type == batchv1.JobComplete || end.Type == batchv1.JobSuccessCriteriaMet {
		return Diagnosis{}
	}
	if end.Reason == batchv1.JobReasonDeadlineExceeded {
		r := Diagnosis{Sentence: "the job's time limit was exceeded", Next: s.logs()}
		if limit := s.Workload.job.Spec.ActiveDeadlineSeconds; limit != nil {
			r.Sentence += fmt.Sprintf(": activeDeadlineSeconds is %d", *limit)
		}
		return r
	}
	if s.Workload.IsMap() {
		return s.explainFailedMap(end)
	}
	var r Diagnosis
	least := 1
	if lost := s.Workload.lostHost(s.Pods); lost >= 0 {
		r.Sentence = fmt.Sprintf("host %d was lost: its pod is gone", lost)
	} else if len(s.Pods) > 0 {
		last := decidingPod(s.Pods)
		switch r = s.explainEnd(last); {
		case r.Sentence == "":
		case HostOf(last) > 0:
			r.Sentence = fmt.Sprintf("host %d: %s", HostOf(last), r.Sentence)
		}
		least += mentioned(last)
	} else if !s.Workload.isMultiHost() {
		r.Sentence = s.explainGonePod(end)
	}
	if r.Sentence == "" {
		r.Sentence = foreign(end.Message)
	}
	if r.Next == "" {
		r.Next = s.logs()
	}
	r.Sentence, r.Unrecoverable = r.Sentence+s.countDisruptions(least), false
	return r
}

// explainGonePod explains a failed Job of which no pod is left, "" if that can't have been its end. A pod that failed is kept,
// but goes with its node, as when the autoscaler removes that ten minutes later.
func (s Observation) explainGonePod(end *batchv1.JobCondition) string {
	made := s.newestOfWorkload("SuccessfulCreate")
	if made == nil && end.Reason != batchv1.JobReasonBackoffLimitExceeded {
		return ""
	}
	if made == nil { // the events, too, are gone or were not read
		return "its pod was deleted by someone else, or was removed after it had failed"
	}
	name := strings.TrimPrefix(oneLine(made.Message), "Created pod: ")
	stopped := s.newest(func(e *corev1.Event) bool { return e.Reason == "Killing" && isAbout(e, "Pod", name, "") })
	if stopped == nil {
		return fmt.Sprintf("its pod %s was deleted by someone else, or was removed after it had failed", foreign(name))
	}
	return fmt.Sprintf("its pod %s was deleted by someone else (kubectl delete?)", foreign(name))
}

// explainEnd explains how a pod ended: by what the call reported, else by what took the
// pod away, else by what stopped its containers.
func (s Observation) explainEnd(p corev1.Pod) Diagnosis {
	t := WorkerOf(p).State.Terminated
	if t != nil && t.ExitCode == 0 {
		return Diagnosis{}
	}
	r := Diagnosis{Next: s.logs()}
	switch {
	case t != nil && isReported(t.ExitCode):
		r.Sentence = callReport(t)
	case p.Status.Reason == "Evicted":
		r.Sentence = evicted(p.Status.Message)
	case disruption(p) != "":
		r.Sentence = disruption(p)
	case t != nil:
		return s.explainCrash(p, t)
	default:
		r.Sentence, r.Next = NeverRan(p), DescribePod(p)
	}
	return r
}

// callReport returns the runner's account of a call that ended by itself.
func callReport(t *corev1.ContainerStateTerminated) string {
	if text := runnerSentence(t); text != "" {
		return text
	}
	if t.ExitCode == api.Contract.Exits.Deadline {
		return "the limit of --max-runtime or --max-cost was exceeded"
	}
	return fmt.Sprintf("exit code %d", t.ExitCode)
}

// runnerSentence returns the sentence in the runner's termination message, "" if there is none.
func runnerSentence(t *corev1.ContainerStateTerminated) string {
	var s api.End
	if json.Unmarshal([]byte(t.Message), &s) != nil || s.State != api.Failed {
		return ""
	}
	return foreign(s.Message)
}

// explainCrash explains a worker that did not end by itself.
func (s Observation) explainCrash(p corev1.Pod, t *corev1.ContainerStateTerminated) Diagnosis {
	r := Diagnosis{Next: s.logs()}
	switch {
	case t.Reason == "OOMKilled":
		r.Sentence = "out of memory: " + cmp.Or(prefixed("it used all of its ", limitOf(p, api.ContainerName)), "its node had none left") + "; request more with --memory"
	case t.Reason == "StartError" || t.Reason == "ContainerCannotRun":
		return startError(p, imageOf(p, WorkerOf(p)), oneLine(t.Message))
	case p.DeletionTimestamp != nil: // the runner only knows the signal
		r.Sentence = fmt.Sprintf("its pod was deleted by someone else (exit code %d)", t.ExitCode)
	case runnerSentence(t) != "":
		r.Sentence = runnerSentence(t)
	case t.ExitCode == exitNoProgram:
		r.Sentence = fmt.Sprintf("exit code %d: a program was not found in image %s", t.ExitCode, foreign(imageOf(p, WorkerOf(p))))
	case t.ExitCode == api.Contract.Exits.Runner:
		r.Sentence = fmt.Sprintf("the runner failed (exit code %d): see the last lines of the log", t.ExitCode)
	default:
		r.Sentence = fmt.Sprintf("exit code %d%s", t.ExitCode, signalled(t.ExitCode))
	}
	return r
}

// exitNoProgram is a shell's exit code if it doesn't find a program.
const exitNoProgram = 127

// signalled names the signals that come from outside.
func signalled(code int32) string {
	switch code {
	case api.Contract.Exits.Killed:
		return " (SIGKILL)"
	case api.Contract.Exits.Terminated:
		return " (SIGTERM)"
	}
	return ""
}

// evicted explains an eviction because the node ran short of something. The message says
// who used it.
func evicted(message string) string {
	message = oneLine(message)
	low := lazyregexp.Of(lowOn).FindStringSubmatch(message)
	if low == nil && strings.Contains(message, "ephemeral") {
		return "evicted: " + foreign(message) + "; request more with --disk"
	}
	if low == nil {
		return "evicted" + prefixed(": ", foreign(message))
	}
	text := "evicted: its node was low on " + low[1]
	if use := lazyregexp.Of(wasUsing).FindStringSubmatch(message); use != nil {
		text += fmt.Sprintf(", %s used %s and had requested %s", foreign(use[1]), use[2], use[3])
		switch low[1] {
		case string(corev1.ResourceMemory):
			text += "; request more with --memory"
		case string(corev1.ResourceEphemeralStorage):
			text += "; request more with --disk"
		}
	}
	return text
}

// NeverRan explains a failed pod whose worker did not end by itself: the node did not accept the pod, or another container
// failed first. It is "" if that is not known.
func NeverRan(p corev1.Pod) string {
	if text, ok := strings.CutPrefix(p.Status.Message, "Pod was rejected: "); ok {
		return fmt.Sprintf("node %s refused the pod: %s", p.Spec.NodeName, foreign(text))
	}
	for _, c := range byImportance(p) {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			return fmt.Sprintf("container %s ended with exit code %d%s", c.Name, t.ExitCode, prefixed(", ", foreign(t.Reason)))
		}
	}
	return foreign(p.Status.Message)
}
