package diagnose

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// annotationLWSSize is the size of its set, on a pod. LeaderWorkerSet's controller writes it.
const annotationLWSSize = "leaderworkerset.sigs.k8s.io/size"

// lwsSize returns the number of hosts of a LeaderWorkerSet according to its pods; 0 if
// there are none yet.
func lwsSize(pods []corev1.Pod) int {
	for _, p := range pods {
		if n, err := strconv.Atoi(p.Annotations[annotationLWSSize]); err == nil {
			return n
		}
	}
	return len(pods)
}

type lwsRules struct{}

// state implements rules. A LeaderWorkerSet has no end of its own: the runner of host 0
// writes the outcome on it. A runner without permission for that still closes its port,
// or doesn't open it if the job had already ended. So a leader that runs and is not ready
// has ended if the store says so.
func (lwsRules) state(w Workload, pods []corev1.Pod) api.WorkloadStatus {
	if end, ok := outcome(w.meta); ok {
		s := end.Status()
		s.Reported = end.Pickle
		return api.WorkloadStatus{Status: s}
	}
	leaders := Leaders(pods)
	s := api.WorkloadStatus{Status: api.Status{State: api.Pending, Attempt: len(leaders), Started: firstStart(leaders)}}
	if len(leaders) == 0 {
		return s
	}
	last := leaders[len(leaders)-1]
	switch {
	case w.isDeleted() && slices.ContainsFunc(leaders, HasStarted):
		s.State, s.Message = api.Running, ending
	case WorkerOf(last).State.Running != nil:
		s.CurrentPod = api.CurrentPod{Pod: string(last.UID), MayHaveEarlierPods: mayHaveEarlier(leaders[0], w.meta)}
		if !startsAgain(pods) {
			s.State = api.Running
		}
		// Or it has only just begun; the store knows.
		if ready := podCondition(last, corev1.PodReady); ready != nil && ready.Status == corev1.ConditionFalse {
			s.UnreleasedHosts = unreleased(pods)
		}
	}
	return s
}

func (lwsRules) hosts(_ Workload, pods []corev1.Pod) int { return lwsSize(pods) }

// gateQueue is the scheduling gate with which Kueue holds back the pods of a
// LeaderWorkerSet.
const gateQueue = "kueue.x-k8s.io/admission"

// heldBack implements rules: a pod of a workload in a queue is gated.
func (lwsRules) heldBack(w Workload, pods []corev1.Pod) bool {
	return w.Queue() != "" && slices.ContainsFunc(NewestOfHosts(pods), func(p corev1.Pod) bool {
		return slices.Contains(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: gateQueue})
	})
}

// podSets implements rules: the leader and the workers.
func (lwsRules) podSets(workload *unstructured.Unstructured) ([]PodSet, error) {
	var lws struct {
		Spec struct {
			LeaderWorkerTemplate struct {
				Size           int64                   `json:"size"`
				LeaderTemplate *corev1.PodTemplateSpec `json:"leaderTemplate"`
				WorkerTemplate corev1.PodTemplateSpec  `json:"workerTemplate"`
			} `json:"leaderWorkerTemplate"`
		} `json:"spec"`
	}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(workload.Object, &lws)
	group := lws.Spec.LeaderWorkerTemplate
	leader := cmp.Or(group.LeaderTemplate, &group.WorkerTemplate)
	return []PodSet{{1, leader.Spec}, {max(group.Size, 1) - 1, group.WorkerTemplate.Spec}}, err
}

// outcome returns the end that the leader, or a client, has written on a LeaderWorkerSet.
func outcome(lws *metav1.ObjectMeta) (api.End, bool) {
	var end api.End
	err := json.Unmarshal([]byte(lws.Annotations[api.Contract.Names.Outcome]), &end)
	return end, err == nil && end.State.Ended()
}

// unreleased says what pods occupy. A pod without a node occupies nothing.
func unreleased(pods []corev1.Pod) string {
	pods = slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool { return p.Spec.NodeName == "" })
	chips := int64(0)
	for _, p := range pods {
		for _, c := range p.Spec.Containers {
			for _, resource := range []corev1.ResourceName{api.ResourceTPU, api.ResourceGPU} {
				q := c.Resources.Requests[resource]
				chips += q.Value()
			}
		}
	}
	switch {
	case chips == 1:
		return "1 chip"
	case chips > 0:
		return fmt.Sprintf("%d chips", chips)
	case len(pods) == 1:
		return "1 host"
	}
	return fmt.Sprintf("%d hosts", len(pods))
}

// pythonLWSRules are the rules for keras-kinetic, whose pods exit when they are done
// and are started again.
type pythonLWSRules struct{ lwsRules }

// state implements rules: the pods' last exits count.
func (pythonLWSRules) state(w Workload, pods []corev1.Pod) api.WorkloadStatus {
	leaders := Leaders(pods)
	s := api.WorkloadStatus{Status: api.Status{State: api.Pending, Attempt: len(leaders)}}
	if len(leaders) == 0 {
		return s
	}
	leader := WorkerOf(leaders[len(leaders)-1])
	if t := lastEnd(leader); t != nil {
		s.Status = ended(t, s.Attempt, t.StartedAt.UTC())
		for _, p := range NewestOfHosts(pods) {
			if other := lastEnd(WorkerOf(p)); s.State == api.Succeeded && other != nil && other.ExitCode != 0 {
				s.Status = ended(other, s.Attempt, t.StartedAt.UTC())
				s.Message = fmt.Sprintf("host %d: exit code %d", HostOf(p), other.ExitCode)
			}
		}
		return s
	}
	s.Started = StartOf(leader)
	switch {
	case w.isDeleted():
		s.State, s.Message = api.Running, ending
	case leader.State.Running != nil:
		s.State = api.Running
	}
	return s
}
