package kube

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// situation is what a cluster knows about one job at one moment.
type situation struct {
	// Job is nil for a job that is a LeaderWorkerSet, and Set for any other.
	Job *batchv1.Job
	Set *metav1.PartialObjectMetadata
	// Pods are the workload's, in any order.
	Pods []corev1.Pod
	// Events of the workload, of its pods and of its Kueue Workload, in any order;
	// those of others are passed over.
	Events []corev1.Event
	// Turns of the workload in a queue of Kueue: one, or none that can be read.
	Turns []turn
	Now   time.Time
}

// cause says why a job waits or has failed.
type cause struct {
	// Sentence is for people: one line of at most 300 characters that all print,
	// lower case, without a full stop.
	Sentence string
	// Next is the command that mends it or tells more; empty when there is none.
	Next string
	// Hopeless says of a waiting job that waiting doesn't help, because the job
	// itself would have to be another one: its image does not exist, has a name
	// that is none, no python3, the wrong processor, or runs as root where that is
	// not allowed; or one of its pods breaks the rules of the namespace or of the API, or
	// has been denied by a webhook or a policy for a while. What somebody else may still
	// add (a service account, quota, a node, the right to pull) is not.
	Hopeless bool
	// StartsAgain says of a set that its attempt is over, and another one comes.
	StartsAgain bool
}

// why explains a job that waits or has failed; the zero cause means that there
// is nothing to say. Everything it reads may have been written by strangers.
func why(s situation) cause {
	if !s.owner().exists() {
		return cause{}
	}
	s.Pods = byAge(s.Pods)
	r := s.why()
	r.Sentence, r.Next = cut(oneLine(r.Sentence), sentenceLimit), oneLine(r.Next)
	return r
}

func (s situation) owner() owner { return owner{job: s.Job, set: s.Set} }

// meta is the metadata of the workload.
func (s situation) meta() *metav1.ObjectMeta { return s.owner().meta() }

// why looks at the workload first, then at its newest pod: older ones are history.
func (s situation) why() cause {
	if s.Job != nil {
		if end := jobEnd(s.Job); end != nil {
			return s.failed(end)
		}
	}
	if s.meta().DeletionTimestamp != nil {
		return cause{Sentence: "it is being removed"}
	}
	if s.heldBack() {
		return s.queued()
	}
	if hosts := s.owner().hosts(s.Pods); s.Set != nil || hosts > 1 {
		return s.waitsAsGroup(hosts)
	}
	if len(s.Pods) == 0 {
		return s.uncreated(time.Time{})
	}
	last := s.Pods[len(s.Pods)-1]
	if hasEnded(last) {
		return s.between(last)
	}
	r := s.living(last)
	if r.Sentence != "" {
		r.Sentence += s.setbacks(1 + news(last))
	}
	return r
}

// living explains a pod that has not ended.
func (s situation) living(p corev1.Pod) cause {
	switch {
	case p.DeletionTimestamp != nil:
		return cause{Sentence: fmt.Sprintf("pod %s is being removed%s", p.Name, prefixed(": ", disruption(p))), Next: describePod(p)}
	case p.Spec.NodeName == "":
		return s.unscheduled(p)
	case workerOf(p).State.Running != nil:
		return s.unanswered(p)
	}
	return s.starting(p)
}

// unanswered is about a pod whose node has fallen silent. It may come back, so
// the pod stays Running until its node has been given up.
func (s situation) unanswered(p corev1.Pod) cause {
	e := s.newestOf(p, "NodeNotReady")
	if ready := podCondition(p, corev1.PodReady); e == nil || ready == nil || ready.Status == corev1.ConditionTrue {
		return cause{}
	}
	return cause{
		Sentence: fmt.Sprintf("node %s, where it runs, has not answered for %s", p.Spec.NodeName, s.since(e)),
		Next:     "kubectl describe node " + p.Spec.NodeName,
	}
}

// between explains a pod that has ended while the Job has not: another one
// follows, unless the call has ended by itself or the retries are used up.
func (s situation) between(p corev1.Pod) cause {
	if t := workerOf(p).State.Terminated; t != nil && final(t.ExitCode) {
		return s.over(p)
	}
	if r := s.uncreated(p.CreationTimestamp.Time); r.Sentence != "" {
		return r
	}
	r := s.over(p)
	if r.Sentence == "" {
		return r
	}
	r.Sentence += s.setbacks(1 + news(p))
	switch crashes, retries := s.crashes(), s.retries(); {
	case disruption(p) != "":
		r.Sentence += "; another attempt follows"
	case crashes <= retries:
		r.Sentence += fmt.Sprintf("; retry %d of %d follows", crashes, retries)
	}
	return r
}

// ends tells of a job that waits whether it was told to end, or its last attempt
// has ended.
func (s situation) ends() bool {
	switch {
	case !s.owner().exists():
		return false
	case s.meta().DeletionTimestamp != nil:
		return true
	case s.Job == nil || len(s.Pods) == 0:
		return false
	case isGroup(s.Job): // which ends with the first host that is lost
		return slices.ContainsFunc(s.Pods, hasEnded)
	}
	last := decisive(s.Pods)
	return hasEnded(last) && disruption(last) == "" && s.crashes() > s.retries()
}

// news is 1 for a pod whose disruption the sentence is about already.
func news(p corev1.Pod) int {
	if disruption(p) != "" {
		return 1
	}
	return 0
}

// crashes are the ends of pods that count against the retries.
func (s situation) crashes() int {
	n := 0
	for _, p := range s.Pods {
		if hasEnded(p) && disruption(p) == "" {
			n++
		}
	}
	return n
}

// retries are after how many crashes the Job makes another pod.
func (s situation) retries() int {
	if s.Job.Spec.BackoffLimit == nil {
		return 0
	}
	return int(*s.Job.Spec.BackoffLimit)
}

// hasEnded tells whether nothing runs in a pod any more. The phase follows the
// containers later.
func hasEnded(p corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded || workerOf(p).State.Terminated != nil
}

// podCondition finds a condition by its type: their order means nothing.
func podCondition(p corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return &c
		}
	}
	return nil
}

func describePod(p corev1.Pod) string {
	return fmt.Sprintf("kubectl describe pod %s -n %s", p.Name, p.Namespace)
}

func (s situation) describeJob() string {
	kind := "job"
	if s.Set != nil {
		kind = "leaderworkerset"
	}
	return fmt.Sprintf("kubectl describe %s %s -n %s", kind, s.meta().Name, s.meta().Namespace)
}

// logs is the command for a job that has run: its own lines tell most.
func (s situation) logs() string {
	if id := s.meta().Labels[api.LabelJobID]; id != "" {
		return fmt.Sprintf("kubectl kinetic jobs logs %s -n %s", id, s.meta().Namespace)
	}
	return s.describeJob()
}
