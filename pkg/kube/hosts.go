package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
)

// Hosts are those of a job that have a pod, by their numbers.
func (w *Cluster) Hosts(ctx context.Context, id string) ([]api.Host, error) {
	s, err := w.client.snapshot(ctx, id)
	if err != nil {
		return nil, err
	}
	var hosts []api.Host
	for _, p := range status.NewestOfHosts(s.list()) {
		hosts = append(hosts, hostAs(p))
	}
	return hosts, nil
}

// hostAs says what a pod is doing.
func hostAs(p corev1.Pod) api.Host {
	h := api.Host{Host: status.HostOf(p), Pod: p.Name, Node: p.Spec.NodeName, State: api.Pending}
	switch worker := status.WorkerOf(p); {
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
