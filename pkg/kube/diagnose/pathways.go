package diagnose

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// partTries is how often a sidecar of the Pathways runtime may end before the call has begun. Each time, LeaderWorkerSet's
// controller makes all pods again, and no attempt is counted.
const partTries = 4

// morePartMemory is what to do if a sidecar of the Pathways runtime is out of memory.
const morePartMemory = "raise its limit with --overlay, or run on machines with more memory"

// partTitle returns what sentences call a sidecar of the Pathways runtime, "" for any other container.
func partTitle(container string) string {
	return map[string]string{api.Contract.Pathways.Manager: api.Contract.Parts.ManagerTitle, api.Contract.Pathways.Proxy: api.Contract.Parts.ProxyTitle}[container]
}

func beginsWithPart(sentence string) bool {
	return strings.HasPrefix(sentence, api.Contract.Parts.ManagerTitle) || strings.HasPrefix(sentence, api.Contract.Parts.ProxyTitle)
}

// endedPart returns the sidecar of the Pathways runtime in a pod that has ended by itself, and how; nil if none has. The
// first one counts: the next one can't do without it.
func endedPart(p corev1.Pod) (*corev1.ContainerStatus, *corev1.ContainerStateTerminated) {
	for _, name := range []string{api.Contract.Pathways.Manager, api.Contract.Pathways.Proxy} {
		c := StatusOf(p.Status.InitContainerStatuses, name)
		t := c.LastTerminationState.Terminated
		if t == nil && p.DeletionTimestamp == nil { // else it was told to end
			t = c.State.Terminated
		}
		if t != nil {
			return &c, t
		}
	}
	return nil, nil
}

// explainPart explains why a sidecar of the Pathways runtime has ended, the zero Diagnosis if none has. If the call has not
// begun, it can't before the sidecar stays, which after some tries nobody expects.
func (s Observation) explainPart(p corev1.Pod) Diagnosis {
	c, t := endedPart(p)
	if c == nil {
		return Diagnosis{}
	}
	r := Diagnosis{Next: s.logs()}
	if id := s.meta().Labels[api.LabelJobID]; id != "" {
		r.Next = fmt.Sprintf("kubectl kinetic jobs logs %s -n %s --host %s", id, s.meta().Namespace, api.PartOf(c.Name))
	}
	title := partTitle(c.Name)
	switch t.Reason {
	case "OOMKilled":
		r.Sentence = fmt.Sprintf("%s is out of memory%s; %s", title, prefixed(": it used all of its ", limitOf(p, c.Name)), morePartMemory)
	case "StartError", "ContainerCannotRun":
		r = startError(p, imageOf(p, *c), oneLine(t.Message))
		r.Sentence = title + ": " + r.Sentence
	default:
		r.Sentence = fmt.Sprintf("%s ended with exit code %d%s", title, t.ExitCode, prefixed(", ", foreign(t.Reason)))
	}
	if HasStarted(p) {
		return r
	}
	if tries := s.partStarts(p.Name, c.Name); tries >= partTries {
		r.Sentence, r.Unrecoverable = fmt.Sprintf("%s; it was started %d times", r.Sentence, tries), true
	}
	return r
}

// partStarts returns how often a sidecar was started in the pods of a name since the call was started the last time.
func (s Observation) partStarts(pod, container string) (starts int) {
	started := func(e *corev1.Event, path string) bool {
		return e.Reason == "Started" && isAbout(e, "Pod", pod, "") && e.InvolvedObject.FieldPath == path
	}
	call := s.newest(func(e *corev1.Event) bool { return started(e, "spec.containers{"+api.ContainerName+"}") })
	for i := range s.Events {
		if e := &s.Events[i]; started(e, "spec.initContainers{"+container+"}") && (call == nil || newer(e, call)) {
			starts += int(max(e.Count, 1))
		}
	}
	return starts
}

// limitOf returns the memory limit of a container of a pod, "" if it has none.
func limitOf(p corev1.Pod, container string) string {
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		if q, ok := c.Resources.Limits[corev1.ResourceMemory]; ok && c.Name == container {
			return q.String()
		}
	}
	return ""
}
