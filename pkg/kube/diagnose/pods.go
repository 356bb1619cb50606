package diagnose

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// byAge sorts pods by creation, and so by attempt.
func byAge(pods []corev1.Pod) []corev1.Pod {
	sorted := slices.Clone(pods)
	slices.SortFunc(sorted, func(a, b corev1.Pod) int { return CompareAges(&a, &b) })
	return sorted
}

// CompareAges orders pods by creation.
func CompareAges(a, b *corev1.Pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// WorkerOf returns the status of the container that runs the call. It looks the container
// up by name, since sidecars may come first.
func WorkerOf(p corev1.Pod) corev1.ContainerStatus {
	name := api.ContainerName
	if !RunsCall(p) {
		name = api.Contract.Pathways.Worker
	}
	return StatusOf(p.Status.ContainerStatuses, name)
}

// StatusOf returns the status of the container with a name, the zero status if there is none.
func StatusOf(all []corev1.ContainerStatus, name string) corev1.ContainerStatus {
	for _, c := range all {
		if c.Name == name {
			return c
		}
	}
	return corev1.ContainerStatus{}
}

// RunsCall reports whether a pod runs the call of its job, and is not a TPU host of the Pathways runtime.
func RunsCall(p corev1.Pod) bool {
	return !slices.ContainsFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == api.Contract.Pathways.Worker })
}

// StartOf returns when a container began, the zero time if it hasn't.
func StartOf(c corev1.ContainerStatus) time.Time {
	switch {
	case c.State.Running != nil:
		return c.State.Running.StartedAt.UTC()
	case c.State.Terminated != nil:
		return c.State.Terminated.StartedAt.UTC()
	default:
		return time.Time{}
	}
}

// HostOf returns the number of a pod among the hosts of its job.
func HostOf(p corev1.Pod) int {
	for _, k := range Kinds {
		if n, err := strconv.Atoi(k.hostNumber(p.Labels, p.Annotations)); err == nil {
			return n
		}
	}
	return 0
}

// Leaders returns the pods of host 0, by attempt.
func Leaders(pods []corev1.Pod) []corev1.Pod {
	return slices.DeleteFunc(byAge(pods), func(p corev1.Pod) bool { return HostOf(p) != 0 })
}

// NewestOfHosts returns the last pod of each host, by host number.
func NewestOfHosts(pods []corev1.Pod) []corev1.Pod {
	hosts := slices.Clone(pods)
	slices.SortFunc(hosts, func(a, b corev1.Pod) int { return cmp.Or(cmp.Compare(HostOf(a), HostOf(b)), CompareAges(&a, &b)) })
	last := 0
	for i := range hosts {
		if i+1 == len(hosts) || HostOf(hosts[i+1]) != HostOf(hosts[i]) {
			hosts[last] = hosts[i]
			last++
		}
	}
	return hosts[:last]
}

// HasStarted reports whether a pod has begun, so that there may be a log.
func HasStarted(p corev1.Pod) bool { return !StartOf(WorkerOf(p)).IsZero() }

// hasEnded reports whether nothing runs in a pod any longer. The phase lags behind the
// containers.
func hasEnded(p corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded || WorkerOf(p).State.Terminated != nil
}

// podCondition returns the condition of a type; conditions have no order.
func podCondition(p corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return &c
		}
	}
	return nil
}

// lastEnd returns how a container ended, even if it was restarted since.
func lastEnd(c corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	return cmp.Or(c.State.Terminated, c.LastTerminationState.Terminated)
}

// firstStart returns when the first of the existing pods began; zero if none has.
func firstStart(pods []corev1.Pod) time.Time {
	var first time.Time
	for _, p := range pods {
		if started := StartOf(WorkerOf(p)); first.IsZero() || !started.IsZero() && started.Before(first) {
			first = started
		}
	}
	return first
}

// lastFinish returns when the last of the existing pods' workers ended; zero if none has.
func lastFinish(pods []corev1.Pod) time.Time {
	var last time.Time
	for _, p := range pods {
		if t := WorkerOf(p).State.Terminated; t != nil && t.FinishedAt.After(last) {
			last = t.FinishedAt.UTC()
		}
	}
	return last
}

// newestCreation returns when the newest of the pods was made, the zero time if there are
// none.
func newestCreation(pods []corev1.Pod) (newest time.Time) {
	for _, p := range pods {
		if made := p.CreationTimestamp.Time; made.After(newest) {
			newest = made
		}
	}
	return newest
}

// sameAttempt is the maximum time between the creation of a job and of its first pod. A
// pod that is made later may have predecessors.
const sameAttempt = 10 * time.Second

// mayHaveEarlier reports whether there may have been pods before the first existing pod
// of a job.
func mayHaveEarlier(p corev1.Pod, owner *metav1.ObjectMeta) bool {
	return p.CreationTimestamp.Sub(owner.CreationTimestamp.Time) > sameAttempt
}

// Grace returns the time that pods have between SIGTERM and SIGKILL.
func Grace(pods []corev1.Pod) time.Duration {
	var longest int64
	for _, p := range pods {
		if g := p.Spec.TerminationGracePeriodSeconds; g != nil {
			longest = max(longest, *g)
		}
	}
	return time.Duration(longest) * time.Second
}
