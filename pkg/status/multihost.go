package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// explainHosts explains a job on several hosts by the first of them that has
// something to say: none runs its call before all have started.
func (s Observation) explainHosts(hosts int) Diagnosis {
	pods := NewestOfHosts(s.Pods)
	if s.Workload.kind.ScaledToZero && startsAgain(pods) {
		return Diagnosis{Sentence: s.explainRestart(pods) + startAgain, Next: s.logs(), StartsAgain: true}
	}
	var first Diagnosis
	for _, p := range pods {
		if first.Sentence == "" {
			first = s.explainHost(p)
		}
	}
	if len(pods) < max(hosts, 1) && first.Sentence == "" {
		first = s.explainFailedCreate(time.Time{})
		// What an older attempt was refused may be allowed by now.
		first.Unrecoverable = first.Unrecoverable && s.explainFailedCreate(newestCreation(pods)).Unrecoverable
	}
	if first.Sentence == "" || len(pods) == 0 {
		return first
	}
	if far := progress(pods, max(hosts, len(pods))); far != "" {
		first.Sentence = far + "; " + first.Sentence
	}
	return first
}

// startsAgain reports whether the attempt of a LeaderWorkerSet is over: one of its
// containers has ended, even if it was started again since, or a pod is removed. The
// controller then makes all pods again.
func startsAgain(pods []corev1.Pod) bool {
	return slices.ContainsFunc(NewestOfHosts(pods), func(p corev1.Pod) bool {
		return p.DeletionTimestamp != nil || lastEnd(WorkerOf(p)) != nil
	})
}

// explainRestart says why an attempt of a LeaderWorkerSet is over.
func (s Observation) explainRestart(pods []corev1.Pod) string {
	for _, p := range pods {
		if taken := disruption(p); taken != "" {
			return ofHost(p, taken)
		}
	}
	if p := firstCrashed(pods); p != nil {
		p.DeletionTimestamp = nil // it was removed after that
		return ofHost(*p, s.explainCrash(*p, crashOf(*p)).Sentence)
	}
	for _, find := range []func([]corev1.Pod) *corev1.Pod{recreatedPod, onlyDeletedPod} {
		if p := find(pods); p != nil {
			return ofHost(*p, "its pod was deleted or lost with its node")
		}
	}
	return lostSomehow
}

// What is said of a LeaderWorkerSet whose attempt is over, and why where nothing is known.
const (
	startAgain  = "; all hosts restart"
	lostSomehow = "a host was lost or crashed"
)

// Recall is a status with the diagnosis that was made first when its attempt was over:
// that does not change while the pods go, and take with them what they say. told is the
// status that had it, and next the one to recall from now on: none once another attempt
// has something to say.
func Recall(told, s api.WorkloadStatus) (now, next api.WorkloadStatus) {
	switch {
	case s.StartsAgain && (told.Message == "" || told.Message == lostSomehow+startAgain):
		return s, s
	case s.StartsAgain:
		s.Message = told.Message
		return s, told
	case s.Message != "" || s.State == api.Running && s.Pod != told.Pod:
		return s, api.WorkloadStatus{}
	}
	return s, told
}

// recreatedPod is the pod of a host that was made long after the leader began: the one
// before it is gone without a trace, for the pods of an attempt are made together.
func recreatedPod(pods []corev1.Pod) *corev1.Pod {
	if len(pods) == 0 || HostOf(pods[0]) != 0 {
		return nil
	}
	began := StartOf(WorkerOf(pods[0]))
	for _, p := range pods[1:] {
		if !began.IsZero() && p.CreationTimestamp.Sub(began) > sameAttempt {
			return &p
		}
	}
	return nil
}

// onlyDeletedPod is the pod of the only host that was told to end, while its call runs and
// all others are there: it was deleted by hand. The controller of a LeaderWorkerSet takes the leader's away
// first when it has lost another, whose pod it then makes again.
func onlyDeletedPod(pods []corev1.Pod) *corev1.Pod {
	leaves := func(p corev1.Pod) bool { return p.DeletionTimestamp != nil }
	i := slices.IndexFunc(pods, leaves)
	if i < 0 || slices.ContainsFunc(pods[i+1:], leaves) || len(pods) < lwsSize(pods) {
		return nil
	}
	worker := WorkerOf(pods[i])
	younger := func(p corev1.Pod) bool { return p.CreationTimestamp.After(StartOf(worker)) }
	if lastEnd(worker) != nil || i == 0 && slices.ContainsFunc(pods, younger) {
		return nil
	}
	return &pods[i]
}

// ofHost says of which host a sentence is. Host 0 speaks for others, too, and says so.
func ofHost(p corev1.Pod, sentence string) string {
	if HostOf(p) == 0 && strings.HasPrefix(sentence, "host ") {
		return sentence
	}
	return fmt.Sprintf("host %d: %s", HostOf(p), sentence)
}

// progress is how far the hosts of a job are, "" where all have a node and none runs.
func progress(pods []corev1.Pod, hosts int) string {
	placed, running := 0, 0
	for _, p := range pods {
		if p.Spec.NodeName != "" {
			placed++
		}
		if WorkerOf(p).State.Running != nil {
			running++
		}
	}
	switch {
	case running > 0:
		return fmt.Sprintf("%d of %d hosts are running", running, hosts)
	case placed == hosts:
		return ""
	}
	return fmt.Sprintf("%d of %d hosts have a node", placed, hosts)
}

// explainHost explains one pod of a group.
func (s Observation) explainHost(p corev1.Pod) Diagnosis {
	var r Diagnosis
	if hasEnded(p) {
		r = s.explainEnd(p)
	} else {
		r = s.explainPod(p)
	}
	if r.Sentence != "" {
		r.Sentence = ofHost(p, r.Sentence)
	}
	return r
}

// decidingPod is the pod that decides how a job ended: of several hosts the first whose
// call ended by itself, or which crashed; others are ended because of it.
func decidingPod(pods []corev1.Pod) corev1.Pod {
	hosts := NewestOfHosts(pods)
	if i := slices.IndexFunc(hosts, failedByItself); i >= 0 {
		return hosts[i]
	}
	if p := firstCrashed(hosts); p != nil {
		return *p
	}
	if i := slices.IndexFunc(hosts, func(p corev1.Pod) bool { return disruption(p) != "" }); i >= 0 {
		return hosts[i]
	}
	return hosts[len(hosts)-1]
}

// lostHost is the first host of a Job that failed whose pod is gone, where no other says
// why: they were ended because of it. It is -1 where there is none.
func (w Workload) lostHost(pods []corev1.Pod) int {
	tells := func(p corev1.Pod) bool { return failedByItself(p) || crashOf(p) != nil || disruption(p) != "" }
	if !w.isMultiHost() || len(pods) == 0 || slices.ContainsFunc(pods, tells) {
		return -1
	}
	for host := range int(*w.job.Spec.Completions) {
		if !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return HostOf(p) == host }) {
			return host
		}
	}
	return -1
}

func failedByItself(p corev1.Pod) bool {
	t := WorkerOf(p).State.Terminated
	return t != nil && t.ExitCode != 0 && isFinal(t.ExitCode)
}

// firstCrashed is the pod that crashed before any other, nil if none did. Others are
// told to end because of it, and those that don't obey are killed.
func firstCrashed(pods []corev1.Pod) *corev1.Pod {
	var first *corev1.Pod
	for _, p := range pods {
		if t := crashOf(p); t != nil && (first == nil || t.FinishedAt.Before(&crashOf(*first).FinishedAt)) {
			first = &p
		}
	}
	return first
}

// crashOf is how the container of a pod crashed, nil where it didn't, or the call's own
// code or a signal to end has ended it. What it does after it was started again is no
// cause.
func crashOf(p corev1.Pod) *corev1.ContainerStateTerminated {
	c := WorkerOf(p)
	t := cmp.Or(c.LastTerminationState.Terminated, c.State.Terminated)
	if t == nil || isFinal(t.ExitCode) || t.ExitCode == api.ExitTerminated {
		return nil
	}
	return t
}
