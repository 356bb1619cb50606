package joblist

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// Host describes what a pod is doing.
func Host(p corev1.Pod) api.Host { return Container(p, diagnose.WorkerOf(p)) }

func isScheduled(c corev1.PodCondition) bool {
	return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue
}

// Container describes what a container of a pod is doing.
func Container(p corev1.Pod, c corev1.ContainerStatus) api.Host {
	h := api.Host{Host: diagnose.HostOf(p), Pod: p.Name, Node: p.Spec.NodeName, NodeIP: p.Status.HostIP, State: api.Pending}
	if i := slices.IndexFunc(p.Status.Conditions, isScheduled); i >= 0 {
		h.Scheduled = p.Status.Conditions[i].LastTransitionTime.UTC()
	}
	switch {
	case c.State.Running != nil:
		h.Started = c.State.Running.StartedAt.UTC()
	case c.State.Terminated != nil:
		h.Started, h.Finished = c.State.Terminated.StartedAt.UTC(), c.State.Terminated.FinishedAt.UTC()
	}
	switch {
	case c.State.Terminated != nil && c.State.Terminated.ExitCode == 0:
		h.State = api.Succeeded
	case c.State.Terminated != nil:
		h.State, h.Message = api.Failed, fmt.Sprintf("exit code %d", c.State.Terminated.ExitCode)
	case c.State.Running != nil:
		h.State = api.Running
	case p.Status.Phase == corev1.PodFailed:
		h.State, h.Message = api.Failed, cmp.Or(diagnose.NeverRan(p), p.Status.Reason)
	case p.Spec.NodeName == "":
		h.Message = "no node yet"
	case c.State.Waiting != nil:
		h.Message = c.State.Waiting.Reason
	}
	if p.DeletionTimestamp != nil {
		h.Message = "being deleted"
	}
	return h
}
