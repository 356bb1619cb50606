package kube

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// owner is the object behind a job: a Job, or a LeaderWorkerSet, of which its
// metadata tells all that is asked. Neither is no object.
type owner struct {
	job *batchv1.Job
	set *metav1.PartialObjectMetadata
}

func (o owner) exists() bool { return o.job != nil || o.set != nil }

// meta is the metadata of an owner that exists.
func (o owner) meta() *metav1.ObjectMeta {
	if o.job != nil {
		return &o.job.ObjectMeta
	}
	return &o.set.ObjectMeta
}

// queue is the queue of Kueue that an owner that exists goes through, "" for none.
func (o owner) queue() string { return o.meta().Labels[api.LabelQueue] }

// kind is that of an owner that exists.
func (o owner) kind(c *Client) kind {
	if o.job != nil {
		return c.jobs()
	}
	return c.sets()
}

// byPythonTool tells the jobs of the Python tool, which writes no annotations,
// from those of this program.
func (o owner) byPythonTool() bool { return o.meta().Annotations[api.AnnotationStore] == "" }

// status derives a job's status from its objects.
func (o owner) status(pods []corev1.Pod) api.Status {
	if o.set != nil {
		return stateOfSet(o.set, pods)
	}
	return stateOf(o.job, pods)
}

// hosts is how many pods take part in one call of the job.
func (o owner) hosts(pods []corev1.Pod) int {
	if o.set != nil {
		return sizeOfSet(pods)
	}
	if isGroup(o.job) {
		return int(*o.job.Spec.Completions)
	}
	return 1
}

// atATime is how many pods the job has at a time, those of a map too.
func (o owner) atATime(pods []corev1.Pod) int {
	if o.job != nil && isMap(o.job) && o.job.Spec.Parallelism != nil {
		return int(*o.job.Spec.Parallelism)
	}
	return o.hosts(pods)
}

// isGroup tells a Job whose pods are the hosts of one call from others: those of
// a map, too, have indexes.
func isGroup(j *batchv1.Job) bool {
	indexed := j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion
	return indexed && !isMap(j) && j.Spec.Completions != nil
}

// isMap tells a Job whose pods each make calls of their own.
func isMap(j *batchv1.Job) bool { return j.Spec.BackoffLimitPerIndex != nil }

// What LeaderWorkerSet's controller writes on pods.
const (
	labelSetWorker = "leaderworkerset.sigs.k8s.io/worker-index"
	annotationSize = "leaderworkerset.sigs.k8s.io/size"
)

// sizeOfSet is the number of hosts of a LeaderWorkerSet, as its pods tell it; 0
// before there are any.
func sizeOfSet(pods []corev1.Pod) int {
	for _, p := range pods {
		if n, err := strconv.Atoi(p.Annotations[annotationSize]); err == nil {
			return n
		}
	}
	return len(pods)
}

// hostOf is the number of a pod among the hosts of its job.
func hostOf(p corev1.Pod) int {
	for _, number := range []string{p.Labels[labelSetWorker], p.Annotations[batchv1.JobCompletionIndexAnnotation]} {
		if n, err := strconv.Atoi(number); err == nil {
			return n
		}
	}
	return 0
}

// leadersOf are the pods of host 0, by attempt.
func leadersOf(pods []corev1.Pod) []corev1.Pod {
	return slices.DeleteFunc(byAge(pods), func(p corev1.Pod) bool { return hostOf(p) != 0 })
}

// newestOfHosts is the last pod of each host, by their numbers.
func newestOfHosts(pods []corev1.Pod) []corev1.Pod {
	last := map[int]corev1.Pod{}
	for _, p := range byAge(pods) {
		last[hostOf(p)] = p
	}
	hosts := make([]corev1.Pod, 0, len(last))
	for _, p := range last {
		hosts = append(hosts, p)
	}
	slices.SortFunc(hosts, func(a, b corev1.Pod) int { return cmp.Compare(hostOf(a), hostOf(b)) })
	return hosts
}

// stateOfSet is stateOf for a LeaderWorkerSet. It has no end of its own: the
// runner of host 0 writes the outcome on it. A runner that may not closes its port all
// the same, or does not open it where the job has ended before: a leader that runs and
// is not ready has ended, if the store says so.
func stateOfSet(set *metav1.PartialObjectMetadata, pods []corev1.Pod) api.Status {
	if (owner{set: set}).byPythonTool() {
		return stateOfPythonSet(set, pods)
	}
	if end, ok := outcome(set); ok {
		return end.Status()
	}
	leaders := leadersOf(pods)
	s := api.Status{State: api.Pending, Attempt: len(leaders)}
	if len(leaders) == 0 {
		return s
	}
	last := leaders[len(leaders)-1]
	s.Started = startOf(workerOf(leaders[0]))
	switch {
	case set.DeletionTimestamp != nil && slices.ContainsFunc(leaders, hasPrinted):
		s.State, s.Message = api.Running, ending
	case workerOf(last).State.Running != nil:
		s.Pod, s.Late = string(last.UID), late(leaders[0], &set.ObjectMeta)
		if !startsAgain(pods) {
			s.State = api.Running
		}
		// Or it has only just begun; the store tells.
		if ready := podCondition(last, corev1.PodReady); ready != nil && ready.Status == corev1.ConditionFalse {
			s.Holding = holding(pods)
		}
	}
	return s
}

// outcome is the end that the leader, or a client, has written on a set.
func outcome(set *metav1.PartialObjectMetadata) (api.End, bool) {
	var end api.End
	err := json.Unmarshal([]byte(set.Annotations[api.AnnotationOutcome]), &end)
	return end, err == nil && end.State.Ended()
}

// holding says what pods keep from others. One without a node keeps nothing.
func holding(pods []corev1.Pod) string {
	pods = slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool { return p.Spec.NodeName == "" })
	chips := int64(0)
	for _, p := range pods {
		for _, c := range p.Spec.Containers {
			for _, resource := range []corev1.ResourceName{"google.com/tpu", "nvidia.com/gpu"} {
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

// stateOfPythonSet derives the status of a set of the Python tool, whose pods
// exit when they are done and are started again, from how they ended last.
func stateOfPythonSet(set *metav1.PartialObjectMetadata, pods []corev1.Pod) api.Status {
	leaders := leadersOf(pods)
	s := api.Status{State: api.Pending, Attempt: len(leaders)}
	if len(leaders) == 0 {
		return s
	}
	leader := workerOf(leaders[len(leaders)-1])
	if t := lastEnd(leader); t != nil {
		s = ended(t, s.Attempt, t.StartedAt.UTC())
		for _, p := range newestOfHosts(pods) {
			if other := lastEnd(workerOf(p)); s.State == api.Succeeded && other != nil && other.ExitCode != 0 {
				s = ended(other, s.Attempt, t.StartedAt.UTC())
				s.Message = fmt.Sprintf("host %d: exit code %d", hostOf(p), other.ExitCode)
			}
		}
		return s
	}
	s.Started = startOf(leader)
	switch {
	case set.DeletionTimestamp != nil:
		s.State, s.Message = api.Running, ending
	case leader.State.Running != nil:
		s.State = api.Running
	}
	return s
}

// lastEnd is how a container ended, even if it was started again since.
func lastEnd(c corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	return cmp.Or(c.State.Terminated, c.LastTerminationState.Terminated)
}
