package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

const (
	createdWorkload = `^Created Workload: [^\s/]+/([a-z0-9][a-z0-9.-]*)`
	workloadUIDs    = ` \(UID: [^)]*\)|; preemptor path: .*$`
	podSetOpening   = `^couldn't assign flavors to pod set [a-z0-9-]+: `
	noQueue         = `^LocalQueue \S+ doesn't exist$`
)

// explainQueue explains a job that is held back. Kueue holds back a job until it is
// admitted, and again after it is evicted.
func (s Observation) explainQueue() Diagnosis {
	queue, ns := s.Workload.Queue(), s.meta().Namespace
	if queue == "" {
		return Diagnosis{
			Sentence: "the job is suspended",
			Next: fmt.Sprintf(`kubectl patch %s %s -n %s --type=merge -p '{"spec":{"suspend":false}}'`,
				s.Workload.kind.word(), s.meta().Name, ns),
		}
	}
	if len(s.KueueWorkloads) == 0 {
		return s.explainQueueByEvents(queue, ns)
	}
	if s.isKept() {
		return Diagnosis{
			Sentence: fmt.Sprintf("queue %s %s", queue, s.Workload.kind.keepsLongNames(queue)),
			Next:     fmt.Sprintf("kubectl describe workload %s -n %s", s.kueueWorkload().Name, ns),
		}
	}
	return explainTurn(s.kueueWorkload(), queue)
}

// isKept reports whether Kueue never releases a workload that it has admitted: it can't
// label the pods of a workload with a long name.
func (s Observation) isKept() bool {
	reserved := s.kueueWorkload().Condition("QuotaReserved")
	return s.Workload.kind.isTooLong(s.meta().Name) && reserved != nil && reserved.Status == metav1.ConditionTrue &&
		slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool { return p.Labels[api.LabelQueue] == "" })
}

// isTooLong reports whether Kueue can't admit a workload with a name of this length.
func (k *Kind) isTooLong(name string) bool { return k.MaxQueuedName > 0 && len(name) > k.MaxQueuedName }

func (k *Kind) keepsLongNames(queue string) string {
	return fmt.Sprintf("can't admit a %s whose name has more than %d characters: submit it with --queue %s, which shortens the name", k.Kind, k.MaxQueuedName, queue)
}

// CheckQueue checks a workload as the cluster has made it. If a namespace has a queue for
// all jobs that name none, Kueue puts them into it, and keeps those with long names
// forever.
func CheckQueue(made *unstructured.Unstructured) error {
	k, queue := KindOf(made), made.GetLabels()[api.LabelQueue]
	if k == nil || queue == "" || !k.isTooLong(made.GetName()) {
		return nil
	}
	return fmt.Errorf("job %s: queue %s of namespace %s takes all jobs without a queue, but %s",
		made.GetLabels()[api.LabelJobID], queue, made.GetNamespace(), k.keepsLongNames(queue))
}

// kueueWorkload returns the newest Kueue Workload, if there are several.
func (s Observation) kueueWorkload() *kueue.Workload {
	last := slices.MaxFunc(s.KueueWorkloads, func(a, b kueue.Workload) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return &last
}

func explainTurn(w *kueue.Workload, queue string) Diagnosis {
	r := Diagnosis{
		Sentence: "waiting in queue " + queue,
		Next:     fmt.Sprintf("kubectl describe workload %s -n %s", w.Name, w.Namespace),
	}
	reserved, evicted := w.Condition("QuotaReserved"), w.Condition("Evicted")
	switch {
	case reserved != nil && lazyregexp.Of(noQueue).MatchString(reserved.Message):
		return Diagnosis{
			Sentence: fmt.Sprintf("queue %s does not exist in namespace %s", queue, w.Namespace),
			Next:     "kubectl get localqueues -n " + w.Namespace,
		}
	case evicted != nil && evicted.Status == metav1.ConditionTrue:
		r.Sentence = "back in queue " + queue + prefixed(": ", kueueMessage(evicted.Message))
	case reserved == nil || reserved.Status == metav1.ConditionFalse && reserved.Message == "":
		r.Sentence += ", which has not processed it yet"
	case reserved.Status == metav1.ConditionFalse:
		r.Sentence += ": " + kueueMessage(reserved.Message)
	default:
		r.Sentence = fmt.Sprintf("admitted by queue %s%s", queue, openChecks(w))
	}
	return r
}

// openChecks returns what else a job waits for that has its place in the queue.
func openChecks(w *kueue.Workload) string {
	var open []string
	for _, c := range w.Status.AdmissionChecks {
		if c.State != "Ready" {
			open = append(open, fmt.Sprintf("check %s is %s%s", c.Name, strings.ToLower(c.State), prefixed(": ", foreign(c.Message))))
		}
	}
	return prefixed("; ", strings.Join(open, ", "))
}

// kueueMessage returns Kueue's message without the parts that don't help people.
func kueueMessage(message string) string {
	return foreign(lazyregexp.Of(podSetOpening).ReplaceAllString(lazyregexp.Of(workloadUIDs).ReplaceAllString(message, ""), ""))
}

// eventsLast is how long a cluster keeps events.
const eventsLast = time.Hour

// explainQueueByEvents is for users who may not read Workloads.
func (s Observation) explainQueueByEvents(queue, ns string) Diagnosis {
	r := Diagnosis{
		Sentence: "waiting in queue " + queue,
		Next:     fmt.Sprintf("kubectl describe localqueue %s -n %s", queue, ns),
	}
	stopped, started := s.newestOfWorkload("Stopped"), s.newestOfWorkload("Started")
	if stopped != nil && (started == nil || !eventTime(started).After(eventTime(stopped))) {
		r.Sentence = "back in queue " + queue + ": " + kueueMessage(stopped.Message)
	}
	made := s.newestOfWorkload("CreatedWorkload")
	if made == nil {
		if s.Now.Sub(s.meta().CreationTimestamp.Time) < eventsLast {
			r.Sentence += ", which has not processed it yet"
		}
		return r
	}
	if name := lazyregexp.Of(createdWorkload).FindStringSubmatch(made.Message); name != nil {
		r.Next = fmt.Sprintf("kubectl describe workload %s -n %s", name[1], ns)
		pending := s.newest(func(e *corev1.Event) bool { return e.Reason == "Pending" && isAbout(e, "Workload", name[1], "") })
		if pending != nil {
			r.Sentence += ": " + kueueMessage(pending.Message)
		}
	}
	return r
}
