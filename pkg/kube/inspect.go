package kube

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// Inspect describes the hosts of a job that have a pod. With disruptions it also says when and why
// pods were disrupted, as far as existing pods say, and events, which a cluster keeps for about an
// hour.
func (c *Cluster) Inspect(ctx context.Context, h api.Handle, disruptions bool) (api.WorkloadDetail, error) {
	known, job := newCache(), key{c.client.namespace, h.JobID}
	if err := c.client.readInto(ctx, known, c.client.ofJob(h)); err != nil {
		return api.WorkloadDetail{}, err
	}
	s := known.snapshot(job)
	if err := s.unseen(); err != nil {
		return api.WorkloadDetail{}, err
	}
	var detail api.WorkloadDetail
	for _, p := range diagnose.NewestOfHosts(s.list()) {
		pathways := s.Exists() && s.UsesPathways()
		if pathways {
			detail.Parts = append(detail.Parts, partsAs(p)...)
		}
		if !pathways || diagnose.RunsCall(p) {
			detail.Hosts = append(detail.Hosts, hostAs(p))
		}
	}
	if !disruptions || !s.Exists() {
		return detail, nil
	}
	events := c.client.reasons(false)
	events[0].keep = about(s.Meta())
	if err := c.client.readInto(ctx, known, events); err != nil {
		return api.WorkloadDetail{}, err
	}
	s = known.snapshot(job)
	detail.Disruptions = s.observed(c.client.now()).Disruptions()
	return detail, nil
}

// hostAs describes what a pod is doing.
func hostAs(p corev1.Pod) api.Host { return containerAs(p, diagnose.WorkerOf(p)) }

// partsAs describes what the parts of the Pathways runtime in a pod are doing.
func partsAs(p corev1.Pod) (parts []api.Part) {
	if !diagnose.RunsCall(p) {
		return []api.Part{partAs(api.WorkerPart(diagnose.HostOf(p)-1), p, diagnose.WorkerOf(p))}
	}
	for _, name := range []string{api.PathwaysManager, api.PathwaysProxy} {
		c := corev1.ContainerStatus{}
		if i := slices.IndexFunc(p.Status.InitContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == name }); i >= 0 {
			c = p.Status.InitContainerStatuses[i]
		}
		parts = append(parts, partAs(api.PartOf(name), p, c))
	}
	return parts
}

func partAs(name string, p corev1.Pod, c corev1.ContainerStatus) api.Part {
	h := containerAs(p, c)
	return api.Part{Name: name, Pod: h.Pod, Node: h.Node, State: h.State, Restarts: int(c.RestartCount), Message: h.Message}
}

func isScheduled(c corev1.PodCondition) bool {
	return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue
}

// containerAs describes what a container of a pod is doing.
func containerAs(p corev1.Pod, c corev1.ContainerStatus) api.Host {
	h := api.Host{Host: diagnose.HostOf(p), Pod: p.Name, Node: p.Spec.NodeName, State: api.Pending}
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
