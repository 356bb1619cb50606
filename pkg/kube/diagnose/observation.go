// Package diagnose determines the state of a job in a cluster, and its reason. It makes an
// api.WorkloadStatus from the objects of one moment: the job's workload, pods, events and
// place in a queue. It does no I/O, and knows all kinds of workloads that a job can be.
package diagnose

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

// Observation is what a cluster knows about one job at one moment.
type Observation struct {
	Workload Workload
	// Pods are the workload's, in any order.
	Pods []corev1.Pod
	// Events are those of the workload, of its pods, of their claims and of its Kueue
	// Workload, in any order; other events are ignored.
	Events []corev1.Event
	// KueueWorkloads are the workload's in Kueue: one, or none that can be read.
	KueueWorkloads []kueue.Workload
	// Nodes are those of the cluster, nil if they are not known. Only a job that WantsNodes needs them.
	Nodes []corev1.Node
	// WarmPods are those of warm hosts, which keep what they requested while they wait for calls. They matter as Nodes do.
	WarmPods []corev1.Pod
	Now      time.Time
}

func (s Observation) meta() *metav1.ObjectMeta { return s.Workload.meta }

// Status returns the job's state and, if it waits in whole or in part, the reason.
func (s Observation) Status() api.WorkloadStatus {
	status := s.Workload.State(s.Pods)
	status.ImageDigest = imageDigest(s.Pods)
	if s.Workload.Waits(status.Status, s.Pods) {
		s.Explain().addTo(&status)
		status.Ending = s.isEnding()
	}
	return status
}

// imageDigest returns the digest of the image of the oldest pod that has one and runs the call. A node
// that did not pull the image from a registry knows none.
func imageDigest(pods []corev1.Pod) string {
	for _, p := range byAge(pods) {
		if _, digest, found := strings.Cut(WorkerOf(p).ImageID, "@"); found && RunsCall(p) {
			return digest
		}
	}
	return ""
}

// addTo adds to a status why the job, or a part of it, waits: running hosts wait for the
// others, and hold their accelerators meanwhile.
func (d Diagnosis) addTo(s *api.WorkloadStatus) {
	s.Message, s.Next, s.StartsAgain, s.Unrecoverable, s.ImageLost = d.Sentence, d.Next, d.StartsAgain, d.Unrecoverable, d.ImageLost
}

// isEnding reports whether a waiting job is being deleted, or its last attempt has ended.
func (s Observation) isEnding() bool {
	switch {
	case !s.Workload.Exists():
		return false
	case s.Workload.isDeleted():
		return true
	case s.Workload.kind.ScaledToZero || len(s.Pods) == 0:
		return false
	case s.Workload.isMultiHost(): // it ends with the first host that is lost
		return slices.ContainsFunc(s.Pods, hasEnded)
	}
	last := decidingPod(s.Pods)
	return hasEnded(last) && disruption(last) == "" && withoutSidecar[lingerer(last)] == "" && s.crashes() > s.retries()
}

// IsQueued reports whether a queue of Kueue holds the job back. Its Kueue Workload says
// why; events matter only if that can't be read.
func (s Observation) IsQueued() bool {
	return s.Workload.Exists() && s.Workload.Queue() != "" && s.Workload.kind.rules.heldBack(s.Workload, s.Pods)
}

// EventsAbout returns the name of the only object whose events can explain why a job
// currently waits; "" if the events of several objects can, some of which may be gone.
func (s Observation) EventsAbout() string {
	w := s.Workload
	switch {
	case !w.Exists() || w.kind.ScaledToZero || w.IsMap() || w.Hosts(s.Pods) > 1 || s.IsQueued():
		return ""
	case len(s.Pods) == 0: // the maker of the pods
		return w.meta.Name
	case s.Pods[0].Spec.NodeName == "" && len(Claims(s.Pods[0])) > 0: // also of its claims
		return ""
	case len(s.Pods) == 1 && !hasEnded(s.Pods[0]) && !mayHaveEarlier(s.Pods[0], w.meta):
		return s.Pods[0].Name
	}
	return ""
}
