package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/pattern"
)

// gateQueue is how Kueue holds back the pods of a set; it suspends a Job.
const gateQueue = "kueue.x-k8s.io/admission"

var (
	createdWorkload = pattern.Lazy(`^Created Workload: [^\s/]+/([a-z0-9][a-z0-9.-]*)`)
	workloadUIDs    = pattern.Lazy(` \(UID: [^)]*\)|; preemptor path: .*$`)
	podSetOpening   = pattern.Lazy(`^couldn't assign flavors to pod set [a-z0-9-]+: `)
	noQueue         = pattern.Lazy(`^LocalQueue \S+ doesn't exist$`)
)

// heldBack tells of a job that is not to have pods yet, or none that run: a Job is
// suspended; of a set in a queue a pod is gated.
func (s situation) heldBack() bool {
	if s.Job != nil {
		return s.Job.Spec.Suspend != nil && *s.Job.Spec.Suspend
	}
	return s.owner().queue() != "" && slices.ContainsFunc(newestOfHosts(s.Pods), func(p corev1.Pod) bool {
		return slices.Contains(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: gateQueue})
	})
}

// queued explains a job that is held back. Kueue holds back what it has not
// admitted, and again what it takes back.
func (s situation) queued() cause {
	queue, ns := s.owner().queue(), s.meta().Namespace
	if queue == "" {
		return cause{
			Sentence: "the job is suspended",
			Next: fmt.Sprintf(`kubectl patch job %s -n %s --type=merge -p '{"spec":{"suspend":false}}'`,
				s.Job.Name, ns),
		}
	}
	if len(s.Turns) == 0 {
		return s.queuedByEvents(queue, ns)
	}
	if s.isKept() {
		return cause{
			Sentence: fmt.Sprintf("queue %s %s", queue, keepsLongNames(queue)),
			Next:     fmt.Sprintf("kubectl describe workload %s -n %s", s.turn().Name, ns),
		}
	}
	return s.turn().says(queue)
}

// isKept tells of a set that has had its turn whether its queue keeps it all the same:
// Kueue can't label the pods of one with a long name.
func (s situation) isKept() bool {
	reserved := s.turn().condition("QuotaReserved")
	return s.Set != nil && len(s.Set.Name) > api.MaxQueuedName && reserved != nil && reserved.Status == metav1.ConditionTrue &&
		slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool { return p.Labels[api.LabelQueue] == "" })
}

// keepsLongNames is what a queue does to such a set.
func keepsLongNames(queue string) string {
	return fmt.Sprintf("never lets go of a LeaderWorkerSet whose name has more than %d characters: a shorter one is made with --queue %s", api.MaxQueuedName, queue)
}

// turn is the newest, should there be several.
func (s situation) turn() *turn {
	last := slices.MaxFunc(s.Turns, func(a, b turn) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return &last
}

// says is what Kueue wants before a job's turn comes.
func (t *turn) says(queue string) cause {
	r := cause{
		Sentence: "waiting in queue " + queue,
		Next:     fmt.Sprintf("kubectl describe workload %s -n %s", t.Name, t.Namespace),
	}
	reserved, evicted := t.condition("QuotaReserved"), t.condition("Evicted")
	switch {
	case reserved != nil && noQueue().MatchString(reserved.Message):
		return cause{
			Sentence: fmt.Sprintf("queue %s does not exist in namespace %s", queue, t.Namespace),
			Next:     "kubectl get localqueues -n " + t.Namespace,
		}
	case evicted != nil && evicted.Status == metav1.ConditionTrue:
		r.Sentence = "back in queue " + queue + prefixed(": ", wanted(evicted.Message))
	case reserved == nil || reserved.Status == metav1.ConditionFalse && reserved.Message == "":
		r.Sentence += ", which has not looked at it yet"
	case reserved.Status == metav1.ConditionFalse:
		r.Sentence += ": " + wanted(reserved.Message)
	default:
		r.Sentence = fmt.Sprintf("admitted by queue %s%s", queue, t.checks())
	}
	return r
}

// checks are what else a job that has its place in the queue waits for.
func (t *turn) checks() string {
	var open []string
	for _, c := range t.Status.AdmissionChecks {
		if c.State != "Ready" {
			open = append(open, fmt.Sprintf("check %s is %s%s", c.Name, strings.ToLower(c.State), prefixed(": ", foreign(c.Message))))
		}
	}
	return prefixed("; ", strings.Join(open, ", "))
}

// wanted is Kueue's message without what tells people nothing.
func wanted(message string) string {
	return foreign(podSetOpening().ReplaceAllString(workloadUIDs().ReplaceAllString(message, ""), ""))
}

// eventsLast is for how long a cluster keeps events.
const eventsLast = time.Hour

// queuedByEvents is for those who may not read Workloads.
func (s situation) queuedByEvents(queue, ns string) cause {
	r := cause{
		Sentence: "waiting in queue " + queue,
		Next:     fmt.Sprintf("kubectl describe localqueue %s -n %s", queue, ns),
	}
	stopped, started := s.newestOfOwner("Stopped"), s.newestOfOwner("Started")
	if stopped != nil && (started == nil || !eventTime(started).After(eventTime(stopped))) {
		r.Sentence = "back in queue " + queue + ": " + wanted(stopped.Message)
	}
	made := s.newestOfOwner("CreatedWorkload")
	if made == nil {
		if s.Now.Sub(s.meta().CreationTimestamp.Time) < eventsLast {
			r.Sentence += ", which has not looked at it yet"
		}
		return r
	}
	if name := createdWorkload().FindStringSubmatch(made.Message); name != nil {
		r.Next = fmt.Sprintf("kubectl describe workload %s -n %s", name[1], ns)
		pending := s.newest(func(e *corev1.Event) bool { return e.Reason == "Pending" && isAbout(e, "Workload", name[1], "") })
		if pending != nil {
			r.Sentence += ": " + wanted(pending.Message)
		}
	}
	return r
}
