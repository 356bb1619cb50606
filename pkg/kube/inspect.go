package kube

import (
	"context"
	"fmt"

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
		detail.Hosts = append(detail.Hosts, hostAs(p))
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
func hostAs(p corev1.Pod) api.Host {
	h := api.Host{Host: diagnose.HostOf(p), Pod: p.Name, Node: p.Spec.NodeName, State: api.Pending}
	switch worker := diagnose.WorkerOf(p); {
	case worker.State.Terminated != nil && worker.State.Terminated.ExitCode == 0:
		h.State = api.Succeeded
	case worker.State.Terminated != nil:
		h.State, h.Message = api.Failed, fmt.Sprintf("exit code %d", worker.State.Terminated.ExitCode)
	case worker.State.Running != nil:
		h.State = api.Running
	case p.Spec.NodeName == "":
		h.Message = "no node yet"
	case worker.State.Waiting != nil:
		h.Message = worker.State.Waiting.Reason
	}
	if p.DeletionTimestamp != nil {
		h.Message = "being deleted"
	}
	return h
}
