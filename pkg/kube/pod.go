package kube

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// Pod is a pod in which the call of a job runs; zero for none.
type Pod struct {
	Name string
	UID  string
	// Container is the ID of its container. It changes if the pod is replaced by one of the same name.
	Container string
}

// RunningPod returns the pod in which a host of a job is running, zero if there is none.
func (c *Cluster) RunningPod(ctx context.Context, h api.Handle, host int) (Pod, error) {
	s, err := c.client.snapshot(ctx, h)
	if err != nil {
		return Pod{}, err
	}
	return runningPod(s, host), nil
}

// WatchPod calls seen with the pod in which a host of a job is running, at once and on every change, until seen returns
// true.
func (c *Cluster) WatchPod(ctx context.Context, h api.Handle, host int, seen func(Pod) bool) error {
	var last Pod
	told := false
	return c.observe(ctx, h, func(s snapshot) bool {
		now := runningPod(s, host)
		if told && now == last {
			return false
		}
		told, last = true, now
		return seen(now)
	})
}

// runningPod returns the newest pod of a host, if it is running.
func runningPod(s snapshot, host int) Pod {
	for _, p := range diagnose.NewestOfHosts(s.list()) {
		if diagnose.HostOf(p) == host && diagnose.RunsCall(p) {
			return runningIn(p)
		}
	}
	return Pod{}
}

// runningIn returns a pod if its container is running, else zero.
func runningIn(p corev1.Pod) Pod {
	worker := diagnose.WorkerOf(p)
	if worker.State.Running == nil {
		return Pod{}
	}
	return Pod{p.Name, string(p.UID), worker.ContainerID}
}

// ExplainForward returns an error that says why a port of a pod could not be forwarded.
func (c *Cluster) ExplainForward(pod string, err error) error {
	return c.client.explain("create", kind{resource: "pods/portforward"}, pod, err)
}

// ExplainExec returns an error that says why no program could be started in a pod.
func (c *Cluster) ExplainExec(pod string, err error) error {
	return c.client.explain("create", kind{resource: "pods/exec"}, pod, err)
}
