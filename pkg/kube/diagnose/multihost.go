package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// explainHosts explains a job on several hosts by the first host with something to
// explain: no host runs its call before all have started.
func (s Observation) explainHosts(hosts int) Diagnosis {
	pods := NewestOfHosts(s.Pods)
	if s.Workload.kind.ScaledToZero && startsAgain(pods) {
		r := s.explainRestart(pods)
		r.Sentence, r.Next, r.StartsAgain = r.Sentence+startAgain, cmp.Or(r.Next, s.logs()), true
		return r
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
	if far := progress(pods, max(hosts, len(pods)), s.Workload.UsesPathways()); far != "" {
		first.Sentence = far + "; " + first.Sentence
	}
	return first
}

// startsAgain reports whether the attempt of a LeaderWorkerSet is over: one of its
// containers has ended, even if it was restarted since, or a pod is being deleted. The
// controller then makes all pods again.
func startsAgain(pods []corev1.Pod) bool {
	return slices.ContainsFunc(NewestOfHosts(pods), func(p corev1.Pod) bool {
		part, _ := endedPart(p)
		return p.DeletionTimestamp != nil || lastEnd(WorkerOf(p)) != nil || part != nil
	})
}

// explainRestart explains why an attempt of a LeaderWorkerSet is over.
func (s Observation) explainRestart(pods []corev1.Pod) Diagnosis {
	for _, p := range pods {
		if taken := disruption(p); taken != "" {
			return Diagnosis{Sentence: ofHost(p, taken)}
		}
	}
	for _, p := range pods {
		if r := s.explainPart(p); r.Sentence != "" { // what ended later ended because of it
			return r
		}
	}
	if p := firstCrashed(pods); p != nil {
		p.DeletionTimestamp = nil // it was deleted after that
		return Diagnosis{Sentence: ofHost(*p, s.explainCrash(*p, crashOf(*p)).Sentence)}
	}
	for _, find := range []func([]corev1.Pod) *corev1.Pod{recreatedPod, onlyDeletedPod} {
		if p := find(pods); p != nil {
			return Diagnosis{Sentence: ofHost(*p, "its pod was deleted or lost with its node")}
		}
	}
	return Diagnosis{Sentence: lostSomehow}
}

// Texts about a LeaderWorkerSet whose attempt is over: what follows, and the reason if
// nothing is known.
const (
	startAgain  = "; all hosts restart"
	lostSomehow = "a host was lost or crashed"
)

// Recall keeps the first diagnosis that was made after an attempt was over: it must not
// change while the pods disappear, and with them what they say. kept is the status with
// that diagnosis. next is the status to pass the next time: empty once another attempt
// has something to report.
func Recall(kept, s api.WorkloadStatus) (now, next api.WorkloadStatus) {
	switch {
	case s.StartsAgain && (kept.Message == "" || kept.Message == lostSomehow+startAgain):
		return s, s
	case s.StartsAgain:
		s.Message = kept.Message
		return s, kept
	case s.Message != "" || s.State == api.Running && s.Pod != kept.Pod:
		return s, api.WorkloadStatus{}
	}
	return s, kept
}

// recreatedPod returns a host's pod that was made long after the leader began: its
// predecessor disappeared without a trace, since the pods of an attempt are made
// together.
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

// onlyDeletedPod returns the only pod that is being deleted, while its call runs and all
// others exist: it was deleted by hand. When the controller of a LeaderWorkerSet has lost
// another pod, it deletes the leader's pod first, and then makes the lost one again.
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

// ofHost adds the host to a sentence, unless host 0's sentence already names another
// host, or a part of the Pathways runtime.
func ofHost(p corev1.Pod, sentence string) string {
	if HostOf(p) == 0 && (strings.HasPrefix(sentence, "host ") || beginsWithPart(sentence)) {
		return sentence
	}
	if !RunsCall(p) {
		return fmt.Sprintf("%s: %s", api.WorkerTitle(HostOf(p)-1), sentence)
	}
	return fmt.Sprintf("host %d: %s", HostOf(p), sentence)
}

// progress returns how far the hosts of a job are; "" if all have a node and none runs. With the Pathways runtime, those
// with chips count.
func progress(pods []corev1.Pod, hosts int, pathways bool) string {
	placed, running, what, began := 0, 0, "hosts", false
	if pathways {
		began = slices.ContainsFunc(pods, HasStarted)
		pods, hosts, what = slices.DeleteFunc(slices.Clone(pods), RunsCall), hosts-1, "TPU hosts"
	}
	for _, p := range pods {
		if p.Spec.NodeName != "" {
			placed++
		}
		if WorkerOf(p).State.Running != nil {
			running++
		}
	}
	switch {
	case running > 0 || began:
		return fmt.Sprintf("%d of %d %s are running", running, hosts, what)
	case placed == hosts:
		return ""
	}
	return fmt.Sprintf("%d of %d %s have a node", placed, hosts, what)
}

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

// decidingPod returns the pod that decides how a job ended: with several hosts, the first
// whose call ended by itself, or that crashed. The others are ended because of it.
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

// lostHost returns the first host of a failed Job whose pod is gone, if no other pod
// explains the failure: then the others were ended because of it. It returns -1 if there
// is none.
func (w Workload) lostHost(pods []corev1.Pod) int {
	explains := func(p corev1.Pod) bool { return failedByItself(p) || crashOf(p) != nil || disruption(p) != "" }
	if !w.isMultiHost() || len(pods) == 0 || slices.ContainsFunc(pods, explains) {
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
	return t != nil && t.ExitCode != 0 && isReported(t.ExitCode)
}

// firstCrashed returns the pod that crashed before any other, nil if none did. Others are
// asked to end because of it, and those that don't are killed.
func firstCrashed(pods []corev1.Pod) *corev1.Pod {
	var first *corev1.Pod
	for _, p := range pods {
		if t := crashOf(p); t != nil && (first == nil || t.FinishedAt.Before(&crashOf(*first).FinishedAt)) {
			first = &p
		}
	}
	return first
}

// crashOf returns how the container of a pod crashed. It returns nil if the container
// didn't crash, or if the call's own exit code or SIGTERM ended it. What the container
// does after a restart is not a cause.
func crashOf(p corev1.Pod) *corev1.ContainerStateTerminated {
	c := WorkerOf(p)
	t := cmp.Or(c.LastTerminationState.Terminated, c.State.Terminated)
	if t == nil || isReported(t.ExitCode) || t.ExitCode == api.Contract.Exits.Terminated {
		return nil
	}
	return t
}
