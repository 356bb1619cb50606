package status

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Diagnosis says why a job waits or has failed.
type Diagnosis struct {
	// Sentence is for people: one line of at most 300 characters that all print,
	// lower case, without a full stop.
	Sentence string
	// Next is the command that fixes it or shows more; empty when there is none.
	Next string
	// Unrecoverable says of a waiting job that waiting doesn't help, because the job
	// itself would have to be another one: its image does not exist, has a name
	// that is none, no python3, the wrong processor, or runs as root where that is
	// not allowed; or one of its pods breaks the rules of the namespace or of the API, or
	// has been denied by a webhook or a policy for a while. What others may still
	// add (a service account, quota, a node, the right to pull) is not.
	Unrecoverable bool
	// StartsAgain says of a job on several hosts that its attempt is over, and another one comes.
	StartsAgain bool
}

// Explain says why a job waits or has failed; the zero Diagnosis means that there is
// nothing to say. Everything it reads may have been written by strangers.
func (s Observation) Explain() Diagnosis {
	if !s.Workload.Exists() {
		return Diagnosis{}
	}
	s.Pods = byAge(s.Pods)
	d := s.explain()
	d.Sentence, d.Next = cut(oneLine(d.Sentence), sentenceLimit), oneLine(d.Next)
	return d
}

// explain looks at the workload first, then at its newest pod: older ones are history.
func (s Observation) explain() Diagnosis {
	if end := s.Workload.end(); end != nil {
		return s.explainFailure(end)
	}
	if s.Workload.isDeleted() {
		return Diagnosis{Sentence: "it is being deleted"}
	}
	if s.Workload.kind.rules.heldBack(s.Workload, s.Pods) {
		return s.explainQueue()
	}
	if hosts := s.Workload.Hosts(s.Pods); s.Workload.kind.ScaledToZero || hosts > 1 {
		return s.explainHosts(hosts)
	}
	if len(s.Pods) == 0 {
		return s.explainFailedCreate(time.Time{})
	}
	last := s.Pods[len(s.Pods)-1]
	if hasEnded(last) {
		return s.explainRetry(last)
	}
	r := s.explainPod(last)
	if r.Sentence != "" {
		r.Sentence += s.countDisruptions(1 + news(last))
	}
	return r
}

// explainPod explains a pod that has not ended.
func (s Observation) explainPod(p corev1.Pod) Diagnosis {
	switch {
	case p.DeletionTimestamp != nil:
		return Diagnosis{Sentence: fmt.Sprintf("pod %s is being deleted%s", p.Name, prefixed(": ", disruption(p))), Next: DescribePod(p)}
	case p.Spec.NodeName == "":
		return s.explainUnscheduled(p)
	case WorkerOf(p).State.Running != nil:
		return s.explainLostNode(p)
	}
	return s.explainStart(p)
}

// explainLostNode is about a pod whose node has fallen silent. It may come back, so
// the pod stays Running until its node has been given up.
func (s Observation) explainLostNode(p corev1.Pod) Diagnosis {
	e := s.newestOf(p, "NodeNotReady")
	if ready := podCondition(p, corev1.PodReady); e == nil || ready == nil || ready.Status == corev1.ConditionTrue {
		return Diagnosis{}
	}
	return Diagnosis{
		Sentence: fmt.Sprintf("its node %s has not responded for %s", p.Spec.NodeName, s.since(e)),
		Next:     "kubectl describe node " + p.Spec.NodeName,
	}
}

// explainRetry explains a pod that has ended while the Job has not: another one
// follows, unless the call has ended by itself or the retries are used up.
func (s Observation) explainRetry(p corev1.Pod) Diagnosis {
	if t := WorkerOf(p).State.Terminated; t != nil && isFinal(t.ExitCode) {
		return s.explainEnd(p)
	}
	if r := s.explainFailedCreate(p.CreationTimestamp.Time); r.Sentence != "" {
		return r
	}
	r := s.explainEnd(p)
	if r.Sentence == "" {
		return r
	}
	r.Sentence += s.countDisruptions(1 + news(p))
	switch crashes, retries := s.crashes(), s.retries(); {
	case disruption(p) != "":
		r.Sentence += "; another attempt follows"
	case crashes <= retries:
		r.Sentence += fmt.Sprintf("; retry %d of %d follows", crashes, retries)
	}
	return r
}

// news is 1 for a pod whose disruption the sentence is about already.
func news(p corev1.Pod) int {
	if disruption(p) != "" {
		return 1
	}
	return 0
}

// crashes are the ends of pods that count against the retries.
func (s Observation) crashes() int {
	n := 0
	for _, p := range s.Pods {
		if hasEnded(p) && disruption(p) == "" {
			n++
		}
	}
	return n
}

// retries are after how many crashes the Job makes another pod.
func (s Observation) retries() int {
	if s.Workload.job == nil || s.Workload.job.Spec.BackoffLimit == nil {
		return 0
	}
	return int(*s.Workload.job.Spec.BackoffLimit)
}

// DescribePod is the command that shows a pod.
func DescribePod(p corev1.Pod) string {
	return fmt.Sprintf("kubectl describe pod %s -n %s", p.Name, p.Namespace)
}

func (s Observation) describeJob() string {
	return fmt.Sprintf("kubectl describe %s %s -n %s", s.Workload.kind.word(), s.meta().Name, s.meta().Namespace)
}

// logs is the command for a job that has run: its own lines tell most.
func (s Observation) logs() string {
	if id := s.meta().Labels[api.LabelJobID]; id != "" {
		return fmt.Sprintf("kubectl kinetic jobs logs %s -n %s", id, s.meta().Namespace)
	}
	return s.describeJob()
}
