package diagnose

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// disruption returns what took a pod away, "" if nothing did. Such an end is not the
// call's fault, and does not count against the retries.
func disruption(p corev1.Pod) string {
	c := podCondition(p, corev1.DisruptionTarget)
	if c == nil || c.Status != corev1.ConditionTrue {
		return ""
	}
	var text string
	switch c.Reason {
	case corev1.PodReasonPreemptionByScheduler:
		return "preempted by a pod of higher priority"
	case "EvictionByEvictionAPI":
		return fmt.Sprintf("evicted from node %s, which is being drained", p.Spec.NodeName)
	case "DeletionByTaintManager":
		text = fmt.Sprintf("node %s was lost or became unavailable", p.Spec.NodeName)
	case "DeletionByPodGC":
		text = fmt.Sprintf("node %s is gone", p.Spec.NodeName)
	case corev1.PodReasonTerminationByKubelet:
		if strings.Contains(c.Message, "critical pod") {
			return fmt.Sprintf("node %s needed the room for a system pod", p.Spec.NodeName)
		}
		if p.Status.Reason == "Evicted" {
			return evicted(p.Status.Message)
		}
		text = fmt.Sprintf("node %s was shut down", p.Spec.NodeName)
	default:
		text = "disrupted" + prefixed(": ", foreign(c.Message))
	}
	if p.Spec.NodeSelector[api.NodeLabelSpot] == "true" {
		text += ", as spot machines can be at any time"
	}
	return text
}

// countDisruptions says how often the job's pods were taken away, to be appended to a
// sentence; "" if it was less than least times. Most such pods are gone, so their events
// count, too.
func (s Observation) countDisruptions(least int) string {
	taken, preempted := map[string]bool{}, map[string]bool{}
	for _, p := range s.Pods {
		if c := podCondition(p, corev1.DisruptionTarget); c != nil && c.Status == corev1.ConditionTrue {
			taken[p.Name] = true
			preempted[p.Name] = c.Reason == corev1.PodReasonPreemptionByScheduler
		}
	}
	for _, e := range s.Events {
		name := e.InvolvedObject.Name
		if e.InvolvedObject.Kind != "Pod" || !s.Workload.mayName(name) {
			continue
		}
		switch {
		case e.Reason == "Preempted":
			taken[name], preempted[name] = true, true
		case isTaintEviction(e):
			taken[name] = true
		}
	}
	times := 0
	for name := range taken {
		if preempted[name] {
			times++
		}
	}
	switch {
	case len(taken) < least:
		return ""
	case times == len(taken):
		return fmt.Sprintf("; preempted %s", often(times))
	}
	return fmt.Sprintf("; evicted from its node %s", often(len(taken)))
}

func often(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Disruptions returns when and why pods of the job were taken away, in order of time. It
// knows them from the existing pods and from events, which a cluster keeps for about an
// hour. A pod comes before an event of the same second, which says less.
func (s Observation) Disruptions() []api.Disruption {
	var all []api.Disruption
	for _, p := range byAge(s.Pods) {
		if why := disruption(p); why != "" {
			all = append(all, api.Disruption{Time: podCondition(p, corev1.DisruptionTarget).LastTransitionTime.UTC(), Why: why})
		}
	}
	for _, e := range s.Events {
		if why := disruptionIn(e); why != "" && (e.InvolvedObject.Kind != "Pod" || s.Workload.mayName(e.InvolvedObject.Name)) {
			all = append(all, api.Disruption{Time: eventTime(&e).UTC(), Why: why})
		}
	}
	slices.SortStableFunc(all, func(a, b api.Disruption) int { return a.Time.Compare(b.Time) })
	return all
}

// disruptionIn returns why a pod was taken away, or a job evicted from its queue,
// according to an event; "" for any other event.
func disruptionIn(e corev1.Event) string {
	switch {
	case e.InvolvedObject.Kind == "Job" && e.Reason == "Stopped":
		return "evicted by Kueue" + prefixed(": ", kueueMessage(e.Message))
	case e.InvolvedObject.Kind != "Pod":
		return ""
	case e.Reason == "Preempted":
		return "preempted by a pod of higher priority"
	case isTaintEviction(e):
		return "its node was lost or became unavailable"
	}
	return ""
}

// isTaintEviction reports whether an event says that a pod leaves its node, rather than
// that it may stay.
func isTaintEviction(e corev1.Event) bool {
	return e.Reason == "TaintManagerEviction" && strings.HasPrefix(e.Message, "Marking for deletion")
}
