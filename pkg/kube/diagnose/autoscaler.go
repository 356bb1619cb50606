package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// Messages of the cluster autoscaler about a pod.
const (
	scaleUpTo     = `instanceGroups/([a-z0-9-]+) (\d+)->(\d+)(?: \(max: (\d+)\))?`
	noScaleUp     = `^\S+ didn't trigger scale-up(?: \([^)]*\))?:\s*(.*)$`
	failedScaleUp = `^Node scale up in zones (.*?) ?associated with this pod failed: (.*?)\.? Pod is at risk`
	zoneName      = `\b([a-z]+-[a-z]+[0-9]+)-[a-z]+(?:[0-9]+[a-z]+)?\b`
)

// explainAutoscaler explains the autoscaler's newest event, as an addition to the
// scheduler's reasons. The scheduler keeps complaining while a node is on its way, so its
// events don't count here.
func (s Observation) explainAutoscaler(p corev1.Pod) Diagnosis {
	e := s.newestOf(p, "TriggeredScaleUp", "NotTriggerScaleUp", "FailedScaleUp")
	if e == nil {
		return Diagnosis{}
	}
	message := oneLine(e.Message)
	switch e.Reason {
	case "TriggeredScaleUp":
		return Diagnosis{Sentence: fmt.Sprintf("a node has been starting for %s%s", s.since(e), prefixed(": ", growth(message)))}
	case "NotTriggerScaleUp":
		return refusedScaleUp(message, p)
	}
	return brokenScaleUp(message)
}

func growth(message string) string {
	var groups []string
	for _, m := range lazyregexp.Of(scaleUpTo).FindAllStringSubmatch(message, 3) {
		groups = append(groups, fmt.Sprintf("%s from %s to %s%s", m[1], m[2], m[3], prefixed(" of at most ", m[4])))
	}
	return foreign(strings.Join(groups, ", "))
}

const listPools = "kubectl kinetic pool list"

// refusedScaleUp omits pools whose nodes would not fit anyway, unless there are no
// others.
func refusedScaleUp(message string, p corev1.Pod) Diagnosis {
	m := lazyregexp.Of(noScaleUp).FindStringSubmatch(message)
	if m == nil {
		return Diagnosis{Sentence: "the autoscaler adds no node: " + foreign(message)}
	}
	var reasons []string
	unfit := 0
	for _, c := range complaints(m[1]) {
		switch {
		case strings.Contains(c.what, "max node group size reached"):
			reasons = append(reasons, pools(c.count, "at its maximum size", "at their maximum size"))
		case strings.Contains(c.what, "in backoff after failed scale-up"):
			reasons = append(reasons, pools(c.count, "waiting after a failed attempt", "wait after failed attempts"))
		case strings.HasPrefix(c.what, "node(s) ") || strings.HasPrefix(c.what, "Insufficient "):
			unfit += c.count
		default:
			reasons = append(reasons, fmt.Sprintf("%d %s", c.count, foreign(c.what)))
		}
	}
	if len(reasons) == 0 && m[1] != "" && unfit == 0 {
		reasons = append(reasons, foreign(m[1]))
	}
	if len(reasons) == 0 {
		return Diagnosis{Sentence: "the autoscaler adds no node: no node pool fits and can grow" + prefixed("; ", poolsOnMoreHosts(p)), Next: listPools}
	}
	return Diagnosis{Sentence: "the autoscaler adds no node: " + strings.Join(reasons, ", "), Next: listPools}
}

// poolsOnMoreHosts says that node pools may have the slice of a pod on more hosts, as those of keras-kinetic for v6e-8 and
// v5e-8 have, and how a job runs there; "" if there is no such slice.
func poolsOnMoreHosts(p corev1.Pod) string {
	a, found := onMoreHosts(p)
	if !found {
		return ""
	}
	return fmt.Sprintf("node pools created by keras-kinetic have %s on %d hosts: to use them, add --backend lws", accelerator.Text(a), a.Hosts)
}

// onMoreHosts returns the slice that a pod asks for, on more hosts.
func onMoreHosts(p corev1.Pod) (a api.Accelerator, found bool) {
	asks := p.Spec.NodeSelector
	chips, err := strconv.Atoi(asks[api.NodeLabelChips])
	if err != nil {
		return api.Accelerator{}, false
	}
	return accelerator.OnMoreHosts(asks[api.NodeLabelTPU], asks[api.NodeLabelTopology], chips)
}

func pools(n int, one, many string) string {
	if n == 1 {
		return "1 node pool " + one
	}
	return fmt.Sprintf("%d node pools %s", n, many)
}

// brokenScaleUp explains a scale-up that Compute Engine refused. The autoscaler tries
// again by itself.
func brokenScaleUp(message string) Diagnosis {
	m := lazyregexp.Of(failedScaleUp).FindStringSubmatch(message)
	if m == nil {
		return Diagnosis{Sentence: "adding a node failed: " + foreign(message)}
	}
	where := foreign(m[1])
	switch m[2] {
	case "GCE out of resources":
		return Diagnosis{Sentence: "Google Cloud has no such machine free" + prefixed(" in ", where) + " (GCE out of resources); the autoscaler tries again"}
	case "GCE quota exceeded":
		r := Diagnosis{Sentence: "the project's Compute Engine quota is used up" + prefixed(" in ", where) + " (GCE quota exceeded)"}
		if region := lazyregexp.Of(zoneName).FindStringSubmatch(m[1]); region != nil {
			r.Next = fmt.Sprintf(`gcloud compute regions describe %s --flatten=quotas --format="table(quotas.metric,quotas.usage,quotas.limit)"`, region[1])
		}
		return r
	default:
		return Diagnosis{Sentence: "adding a node" + prefixed(" in ", where) + " failed: " + foreign(m[2])}
	}
}
