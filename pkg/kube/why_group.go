package kube

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// waitsAsGroup explains a job on several hosts by the first of them that has
// something to say: none runs its call before all have started.
func (s Situation) waitsAsGroup(hosts int) Reason {
	pods := newestOfHosts(s.Pods)
	placed := 0
	var first Reason
	for _, p := range pods {
		if p.Spec.NodeName != "" {
			placed++
		}
		if first.Sentence == "" {
			first = s.host(p)
		}
	}
	if (len(pods) == 0 || len(pods) < hosts) && first.Sentence == "" {
		first = s.uncreated(time.Time{})
	}
	if first.Sentence == "" || len(pods) == 0 {
		return first
	}
	first.Sentence = fmt.Sprintf("%d of %d hosts have a node; %s", placed, max(hosts, len(pods)), first.Sentence)
	return first
}

// host explains one pod of a group.
func (s Situation) host(p corev1.Pod) Reason {
	var r Reason
	if hasEnded(p) {
		r = s.over(p)
	} else {
		r = s.living(p)
	}
	if r.Sentence != "" {
		r.Sentence = fmt.Sprintf("host %d: %s", hostOf(p), r.Sentence)
	}
	return r
}

// decisive is the pod that tells how a job ended: of several hosts the first whose
// call ended by itself, or which crashed; others are ended because of it.
func decisive(pods []corev1.Pod) corev1.Pod {
	hosts := newestOfHosts(pods)
	for _, tells := range []func(corev1.Pod) bool{failedByItself, crashedAlone, func(p corev1.Pod) bool { return disruption(p) != "" }} {
		for _, p := range hosts {
			if tells(p) {
				return p
			}
		}
	}
	return hosts[len(hosts)-1]
}

func failedByItself(p corev1.Pod) bool {
	t := workerOf(p).State.Terminated
	return t != nil && t.ExitCode != 0 && final(t.ExitCode)
}

func crashedAlone(p corev1.Pod) bool {
	t := workerOf(p).State.Terminated
	return t != nil && !final(t.ExitCode) && t.ExitCode != exitTerminated
}
