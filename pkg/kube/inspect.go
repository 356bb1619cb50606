package kube

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

// Inspect describes the hosts of a job that have a pod. With disruptions it also says when and why
// pods were disrupted, as far as existing pods say, and events, which a cluster keeps for about an
// hour.
func (c *Cluster) Inspect(ctx context.Context, h api.Handle, disruptions bool) (api.WorkloadDetail, error) {
	known, job := newCache(), c.client.keyOf(h)
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
			detail.Hosts = append(detail.Hosts, joblist.Host(p))
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

// partsAs describes what the parts of the Pathways runtime in a pod are doing.
func partsAs(p corev1.Pod) (parts []api.Part) {
	if !diagnose.RunsCall(p) {
		return []api.Part{partAs(api.WorkerPart(diagnose.HostOf(p)-1), p, diagnose.WorkerOf(p))}
	}
	for _, name := range []string{api.Contract.Pathways.Manager, api.Contract.Pathways.Proxy} {
		parts = append(parts, partAs(api.PartOf(name), p, diagnose.StatusOf(p.Status.InitContainerStatuses, name)))
	}
	return parts
}

func partAs(name string, p corev1.Pod, c corev1.ContainerStatus) api.Part {
	h := joblist.Container(p, c)
	return api.Part{Name: name, Pod: h.Pod, Node: h.Node, State: h.State, Restarts: int(c.RestartCount), Message: h.Message}
}
