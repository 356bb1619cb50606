package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// waitsAsGroup explains a job on several hosts by the first of them that has
// something to say: none runs its call before all have started.
func (s situation) waitsAsGroup(hosts int) cause {
	pods := newestOfHosts(s.Pods)
	if s.Set != nil && startsAgain(pods) {
		return cause{Sentence: s.brokenOff(pods) + startAgain, Next: s.logs(), StartsAgain: true}
	}
	var first cause
	for _, p := range pods {
		if first.Sentence == "" {
			first = s.host(p)
		}
	}
	if len(pods) < max(hosts, 1) && first.Sentence == "" {
		first = s.uncreated(time.Time{})
		// What an older attempt was refused may be allowed by now.
		first.Hopeless = first.Hopeless && s.uncreated(newestCreation(pods)).Hopeless
	}
	if first.Sentence == "" || len(pods) == 0 {
		return first
	}
	if far := progress(pods, max(hosts, len(pods))); far != "" {
		first.Sentence = far + "; " + first.Sentence
	}
	return first
}

// newestCreation is when the last of some pods was made, the zero time for none.
func newestCreation(pods []corev1.Pod) (newest time.Time) {
	for _, p := range pods {
		if made := p.CreationTimestamp.Time; made.After(newest) {
			newest = made
		}
	}
	return newest
}

// startsAgain tells of a set that goes on whether its attempt is over: a container of
// it has ended, even if it was started again since, or a pod is removed. The set's
// controller then makes all pods anew.
func startsAgain(pods []corev1.Pod) bool {
	return slices.ContainsFunc(newestOfHosts(pods), func(p corev1.Pod) bool {
		return p.DeletionTimestamp != nil || lastEnd(workerOf(p)) != nil
	})
}

// brokenOff says why an attempt of a set is over.
func (s situation) brokenOff(pods []corev1.Pod) string {
	for _, p := range pods {
		if taken := disruption(p); taken != "" {
			return ofHost(p, taken)
		}
	}
	if p := firstCrashed(pods); p != nil {
		p.DeletionTimestamp = nil // it was removed after that
		return ofHost(*p, s.crashed(*p, crashOf(*p)).Sentence)
	}
	for _, find := range []func([]corev1.Pod) *corev1.Pod{madeAnew, leavesAlone} {
		if p := find(pods); p != nil {
			return ofHost(*p, "its pod was deleted, or lost with its node")
		}
	}
	return lostSomehow
}

// What is said of a set whose attempt is over, and why where nothing tells.
const (
	startAgain  = "; all hosts start again"
	lostSomehow = "a host was lost, or has crashed"
)

// recalled is a status with the cause that was told first when its attempt was over:
// that does not change while the pods go, and take with them what they tell. told is the
// status that had it, and next the one to recall from now on: none once another attempt
// has something to say.
func recalled(told, s api.Status) (now, next api.Status) {
	switch {
	case s.StartsAgain && (told.Message == "" || told.Message == lostSomehow+startAgain):
		return s, s
	case s.StartsAgain:
		s.Message = told.Message
		return s, told
	case s.Message != "" || s.State == api.Running && s.Pod != told.Pod:
		return s, api.Status{}
	}
	return s, told
}

// madeAnew is the pod of a host that was made long after the leader began: the one
// before it is gone without a trace, for the pods of an attempt are made together.
func madeAnew(pods []corev1.Pod) *corev1.Pod {
	if len(pods) == 0 || hostOf(pods[0]) != 0 {
		return nil
	}
	began := startOf(workerOf(pods[0]))
	for _, p := range pods[1:] {
		if !began.IsZero() && p.CreationTimestamp.Sub(began) > soon {
			return &p
		}
	}
	return nil
}

// leavesAlone is the pod of the only host that was told to end, while its call runs and
// all others are there: somebody deleted it. A set's controller takes the leader's away
// first when it has lost another, whose pod it then makes anew.
func leavesAlone(pods []corev1.Pod) *corev1.Pod {
	leaves := func(p corev1.Pod) bool { return p.DeletionTimestamp != nil }
	i := slices.IndexFunc(pods, leaves)
	if i < 0 || slices.ContainsFunc(pods[i+1:], leaves) || len(pods) < sizeOfSet(pods) {
		return nil
	}
	worker := workerOf(pods[i])
	younger := func(p corev1.Pod) bool { return p.CreationTimestamp.After(startOf(worker)) }
	if lastEnd(worker) != nil || i == 0 && slices.ContainsFunc(pods, younger) {
		return nil
	}
	return &pods[i]
}

// ofHost says of which host a sentence is. Host 0 speaks for others, too, and says so.
func ofHost(p corev1.Pod, sentence string) string {
	if hostOf(p) == 0 && strings.HasPrefix(sentence, "host ") {
		return sentence
	}
	return fmt.Sprintf("host %d: %s", hostOf(p), sentence)
}

// progress is how far the hosts of a job are, "" where all have a node and none runs.
func progress(pods []corev1.Pod, hosts int) string {
	placed, running := 0, 0
	for _, p := range pods {
		if p.Spec.NodeName != "" {
			placed++
		}
		if workerOf(p).State.Running != nil {
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

// lacksHosts tells of a job on several hosts whether some have yet to start.
func (o owner) lacksHosts(pods []corev1.Pod) bool {
	hosts, newest := o.hosts(pods), newestOfHosts(pods)
	return hosts > 1 && (len(newest) < hosts || slices.ContainsFunc(newest, func(p corev1.Pod) bool {
		return !hasEnded(p) && workerOf(p).State.Running == nil
	}))
}

// waits tells of a job whether it, or a part of it, has yet to start.
func (o owner) waits(s api.Status, pods []corev1.Pod) bool {
	return s.State == api.Pending || s.State == api.Running && s.Message == "" && o.lacksHosts(pods)
}

// host explains one pod of a group.
func (s situation) host(p corev1.Pod) cause {
	var r cause
	if hasEnded(p) {
		r = s.over(p)
	} else {
		r = s.living(p)
	}
	if r.Sentence != "" {
		r.Sentence = ofHost(p, r.Sentence)
	}
	return r
}

// decisive is the pod that tells how a job ended: of several hosts the first whose
// call ended by itself, or which crashed; others are ended because of it.
func decisive(pods []corev1.Pod) corev1.Pod {
	hosts := newestOfHosts(pods)
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

// lostHost is the first host of a Job that failed whose pod is gone, where no other tells
// why: they were ended because of it. It is -1 where there is none.
func lostHost(j *batchv1.Job, pods []corev1.Pod) int {
	tells := func(p corev1.Pod) bool { return failedByItself(p) || crashOf(p) != nil || disruption(p) != "" }
	if !isGroup(j) || len(pods) == 0 || slices.ContainsFunc(pods, tells) {
		return -1
	}
	for host := range int(*j.Spec.Completions) {
		if !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return hostOf(p) == host }) {
			return host
		}
	}
	return -1
}

func failedByItself(p corev1.Pod) bool {
	t := workerOf(p).State.Terminated
	return t != nil && t.ExitCode != 0 && final(t.ExitCode)
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
	c := workerOf(p)
	t := cmp.Or(c.LastTerminationState.Terminated, c.State.Terminated)
	if t == nil || final(t.ExitCode) || t.ExitCode == api.ExitTerminated {
		return nil
	}
	return t
}
