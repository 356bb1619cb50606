package diagnose

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/util/podutils"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Diagnosis explains why a job waits or has failed.
type Diagnosis struct {
	// Sentence is for people: one line of at most 300 printable characters, lower case,
	// without a full stop.
	Sentence string
	// Next is the command that fixes the problem or shows more; "" if there is none.
	Next string
	// Unrecoverable means that waiting doesn't help because the job itself would have to
	// change: its image doesn't exist, has an invalid name, lacks python3, is for another
	// processor, or runs as root where that isn't allowed; its disk is of a type that its
	// machine can't attach; or one of its pods breaks the rules of the namespace or of the
	// API, or a webhook, a policy or a quota that wants limits has denied it for a while.
	// It is false for what others can still add: a service account, more quota, a node, the
	// right to pull.
	Unrecoverable bool
	// ImageLost means that the registry lacks the image, or a part of it.
	ImageLost bool
	// StartsAgain means that the attempt of a job on several hosts is over, and another
	// one follows.
	StartsAgain bool
}

// Explain explains why a job waits or has failed. The zero Diagnosis means that there is
// nothing to explain. Strangers may have written any of the texts that it reads.
func (s Observation) Explain() Diagnosis {
	if !s.Workload.Exists() {
		return Diagnosis{}
	}
	s.Pods = byAge(s.Pods)
	d := s.explain()
	d.Sentence, d.Next = cut(oneLine(d.Sentence), sentenceLimit), oneLine(d.Next)
	return d
}

// explain looks at the workload first, then at its newest pod: older pods are history.
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
		r.Sentence += s.countDisruptions(1 + mentioned(last))
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

// explainLostNode explains a pod whose node no longer responds. The node may come back,
// so the pod stays Running until the cluster gives up the node.
func (s Observation) explainLostNode(p corev1.Pod) Diagnosis {
	e := s.newestOf(p, "NodeNotReady")
	if e == nil || podutils.IsPodReady(&p) {
		return Diagnosis{}
	}
	return Diagnosis{
		Sentence: fmt.Sprintf("its node %s has not responded for %s", p.Spec.NodeName, s.since(e)),
		Next:     "kubectl describe node " + p.Spec.NodeName,
	}
}

// explainRetry explains a pod that has ended although the Job has not: another one
// follows, unless the call ended by itself or the retries are used up.
func (s Observation) explainRetry(p corev1.Pod) Diagnosis {
	if t := WorkerOf(p).State.Terminated; t != nil && s.Workload.isFinal(t.ExitCode) {
		return s.explainEnd(p)
	}
	if r := s.explainFailedCreate(p.CreationTimestamp.Time); r.Sentence != "" {
		return r
	}
	r := s.explainEnd(p)
	if r.Sentence == "" {
		return r
	}
	r.Sentence += s.countDisruptions(1 + mentioned(p))
	switch crashes, retries := s.crashes(), s.retries(); {
	case disruption(p) != "":
		r.Sentence += "; another attempt follows" + afterLingerer(p)
	case crashes <= retries:
		r.Sentence += fmt.Sprintf("; retry %d of %d follows", crashes, retries) + afterLingerer(p)
	case withoutSidecar[lingerer(p)] != "":
		r.Sentence += "; the job ends" + afterLingerer(p)
	}
	return r
}

// mentioned returns 1 for a pod whose disruption the sentence already mentions, else 0.
func mentioned(p corev1.Pod) int {
	if disruption(p) != "" {
		return 1
	}
	return 0
}

// crashes returns how many pods ended in a way that counts against the retries.
func (s Observation) crashes() int {
	n := 0
	for _, p := range s.Pods {
		if hasEnded(p) && disruption(p) == "" {
			n++
		}
	}
	return n
}

// retries returns after how many crashes the Job makes another pod.
func (s Observation) retries() int {
	if s.Workload.job == nil || s.Workload.job.Spec.BackoffLimit == nil {
		return 0
	}
	return int(*s.Workload.job.Spec.BackoffLimit)
}

// DescribePod returns the command that shows a pod.
func DescribePod(p corev1.Pod) string {
	return fmt.Sprintf("kubectl describe pod %s -n %s", p.Name, p.Namespace)
}

func (s Observation) describeJob() string {
	return fmt.Sprintf("kubectl describe %s %s -n %s", s.Workload.kind.word(), s.meta().Name, s.meta().Namespace)
}

// logs returns the command for a job that has run: its own output says most.
func (s Observation) logs() string {
	if id := s.meta().Labels[api.LabelJobID]; id != "" {
		return fmt.Sprintf("kubectl kinetic jobs logs %s -n %s", id, s.meta().Namespace)
	}
	return s.describeJob()
}
