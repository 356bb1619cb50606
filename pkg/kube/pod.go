package kube

import (
	"context"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// RunningPod returns the name of the pod in which host 0 of a job is running, "" if there is
// none.
func (c *Cluster) RunningPod(ctx context.Context, h api.Handle) (string, error) {
	s, err := c.client.snapshot(ctx, h)
	if err != nil {
		return "", err
	}
	leaders := diagnose.Leaders(s.list())
	if len(leaders) == 0 {
		return "", nil
	}
	last := leaders[len(leaders)-1]
	if diagnose.WorkerOf(last).State.Running == nil {
		return "", nil
	}
	return last.Name, nil
}

// ExplainForward returns an error that says why a port of a pod could not be forwarded.
func (c *Cluster) ExplainForward(pod string, err error) error {
	return c.client.explain("create", kind{resource: "pods/portforward"}, pod, err)
}
