package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// The scheduler and the autoscaler count nodes, or node pools, by what is wrong with
// them: `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint {a:
// b}. preemption: …`.
const (
	noNodes    = `^0/(\d+) nodes are available: (.*)$`
	nextReason = `, (\d+) `
	preemption = `(?:\.(?: no new claims to deallocate,)?)? preemption: .*$`
	taintName  = `untolerated taint(?:\(s\))?(?: \{([^}]*)\})?`
)

// matchNoNodes returns the submatches of noNodes in a message of the scheduler, nil if it is about something else.
func matchNoNodes(message string) []string {
	return lazyregexp.Of(noNodes).FindStringSubmatch(lazyregexp.Of(preemption).ReplaceAllString(message, ""))
}

// complaint is one problem that a number of nodes or pools have.
type complaint struct {
	count int
	what  string
}

// complaints splits a list of complaints. A reason may contain commas, so a new one only
// begins where a number follows a comma.
func complaints(list string) []complaint {
	list = strings.TrimRight(strings.TrimSpace(list), ".")
	var found []complaint
	for _, part := range strings.Split(lazyregexp.Of(nextReason).ReplaceAllString(list, "\n$1 "), "\n") {
		number, what, ok := strings.Cut(part, " ")
		count, err := strconv.Atoi(number)
		if !ok || err != nil {
			return nil
		}
		found = append(found, complaint{count, what})
	}
	return found
}

// explainUnscheduled explains a pod without a node: what the scheduler misses, then what
// the autoscaler does about it.
func (s Observation) explainUnscheduled(p corev1.Pod) Diagnosis {
	if c := unscheduledCondition(p); c != nil && c.Reason == corev1.PodReasonSchedulingGated {
		return Diagnosis{Sentence: "held back by " + gates(p), Next: DescribePod(p)}
	}
	says := s.schedulerMessage(p)
	if m := lazyregexp.Of(missingObject).FindStringSubmatch(says); m != nil {
		return missing(p, m[1], m[2], "")
	}
	if r := s.explainClaims(p, says); r.Sentence != "" {
		return r
	}
	grows := s.explainAutoscaler(p)
	if says == "" && grows.Sentence == "" {
		return Diagnosis{}
	}
	r := Diagnosis{Sentence: schedulerWords(p, oneLine(says)), Next: cmp.Or(grows.Next, nextForNodes(p))}
	if r.Sentence == "" {
		r.Sentence = "no suitable node"
	}
	r.Sentence += prefixed("; ", grows.Sentence)
	nodes := s.explainNodes(p)
	if nodes.Sentence == "" { // a node fits, once it has room
		return r.with(s.explainWarmHosts(p, says))
	}
	if grows.Sentence == "" { // else the new nodes matter
		return r.with(nodes)
	}
	return r
}

// schedulerMessage returns why the scheduler has found no node for a pod, "" if it has not told. Its event can come
// before the pod's condition.
func (s Observation) schedulerMessage(p corev1.Pod) string {
	if c := unscheduledCondition(p); c != nil && c.Message != "" {
		return c.Message
	}
	if e := s.newestOf(p, "FailedScheduling"); e != nil {
		return e.Message
	}
	return ""
}

// unscheduledCondition returns the condition that a pod can't be scheduled, nil if it has none.
func unscheduledCondition(p corev1.Pod) *corev1.PodCondition {
	if c := podCondition(p, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return c
	}
	return nil
}

func gates(p corev1.Pod) string {
	var names []string
	for _, g := range p.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	return "scheduling gate " + foreign(strings.Join(names, ", "))
}

// schedulerWords puts the scheduler's message into our words. The nodes that come
// closest, which only lack free resources, are first.
func schedulerWords(p corev1.Pod, message string) string {
	switch message {
	case "":
		return ""
	case "no nodes available to schedule pods":
		return "the cluster has no node"
	}
	m := matchNoNodes(message)
	if m == nil {
		return "no suitable node: " + foreign(message)
	}
	list := complaints(m[2])
	if len(list) == 0 {
		return "no suitable node: " + foreign(m[2])
	}
	slices.SortFunc(list, func(a, b complaint) int { // a stable order: it doesn't depend on the counts
		return cmp.Or(cmp.Compare(distance(a), distance(b)), cmp.Compare(a.what, b.what))
	})
	head := "no node fits"
	if distance(list[0]) == 0 {
		head = "no node has room"
	}
	var parts []string
	for i, c := range list {
		nodes := strconv.Itoa(c.count)
		if i == 0 {
			nodes += " of " + m[1]
		}
		parts = append(parts, nodes+" "+c.onNodes(p))
	}
	return head + ": " + strings.Join(parts, ", ")
}

// distance orders complaints by how far such a node is from accepting the pod.
func distance(c complaint) int {
	switch {
	case strings.HasPrefix(c.what, "Insufficient ") || c.what == "Too many pods":
		return 0
	case strings.Contains(c.what, "node affinity/selector"):
		return 2
	}
	return 1
}

// onNodes says what is wrong with nodes, to follow their number.
func (c complaint) onNodes(p corev1.Pod) string {
	if resource, ok := strings.CutPrefix(c.what, "Insufficient "); ok {
		return "with too little " + foreign(resource) + " free" + asked(p, resource)
	}
	if strings.Contains(c.what, "node affinity/selector") {
		return "without " + selectorWords(p)
	}
	if m := lazyregexp.Of(taintName).FindStringSubmatch(c.what); m != nil {
		return "with a taint" + prefixed(" ", foreign(strings.Replace(m[1], ": ", "=", 1)))
	}
	switch c.what {
	case "node(s) didn't match pod anti-affinity rules", "node(s) didn't satisfy existing pods anti-affinity rules":
		if hasPoolToItself(p) {
			return "in a node pool that another slice uses exclusively"
		}
	case "node(s) didn't match pod affinity rules":
		if hasPoolToItself(p) {
			return "outside of the node pool of the slice's first host"
		}
	case "node(s) didn't match PersistentVolume's node affinity", "node(s) had volume node affinity conflict", "node(s) had no available volume zone":
		return "that can't reach the job's volume"
	case "Too many pods":
		return "with too many pods"
	case "node(s) were unschedulable":
		return "cordoned"
	}
	return foreign(strings.TrimPrefix(c.what, "node(s) "))
}

// hasPoolToItself reports whether affinity rules reserve a node pool for the slice of a
// pod: those of an Indexed Job, or those that LeaderWorkerSet makes from an annotation.
func hasPoolToItself(p corev1.Pod) bool {
	const domain = "leaderworkerset.sigs.k8s.io/"
	if p.Annotations[domain+"exclusive-topology"] != "" || p.Annotations[domain+"subgroup-exclusive-topology"] != "" {
		return true
	}
	rules := p.Spec.Affinity
	return rules != nil && rules.PodAffinity != nil &&
		slices.ContainsFunc(rules.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(t corev1.PodAffinityTerm) bool {
			return t.TopologyKey == api.NodeLabelPool
		})
}

func asked(p corev1.Pod, resource string) string {
	q := requested(p, corev1.ResourceName(resource))
	if q.IsZero() {
		return ""
	}
	return fmt.Sprintf(" (%s asked)", amount(corev1.ResourceName(resource), q))
}

// selector returns the labels that a node must have, sorted.
func selector(p corev1.Pod) []string {
	var labels []string
	for _, name := range slices.Sorted(maps.Keys(p.Spec.NodeSelector)) {
		labels = append(labels, name+"="+p.Spec.NodeSelector[name])
	}
	return labels
}

// selectorWords omits the domain that GKE's labels have in common; the command contains
// it.
func selectorWords(p corev1.Pod) string {
	labels := selector(p)
	for i := range labels {
		labels[i] = strings.TrimPrefix(labels[i], "cloud.google.com/")
	}
	if len(labels) == 0 {
		return "what the pod's node affinity requires"
	}
	return foreign(strings.Join(labels, " "))
}

// nextForNodes returns the command that shows the nodes with the labels, or what the pod
// requests.
func nextForNodes(p corev1.Pod) string {
	labels := selector(p)
	if len(labels) == 0 {
		return DescribePod(p)
	}
	return "kubectl get nodes -l " + strings.Join(labels, ",")
}
