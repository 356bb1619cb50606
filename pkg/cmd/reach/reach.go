// Package reach connects this machine to a host of a running job: to its ports, and to programs that run beside the call.
package reach

import (
	"cmp"
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/podexec"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/portforward"
)

// ErrNoPod says that a host has no pod at the moment.
var ErrNoPod = errors.New("no pod of the job is running")

// Host is one host of a job in a cluster. Its pod may change.
type Host struct {
	handle    api.Handle
	number    int
	config    *rest.Config
	cluster   *kube.Cluster
	namespace string
}

// NewHost returns a host of a job. It contacts nothing.
func NewHost(c *connect.Flags, h api.Handle, number int) (*Host, error) {
	where, err := c.ResolveJobs()
	if err != nil {
		return nil, cli.Usage(err)
	}
	config, err := c.REST(where)
	if err != nil {
		return nil, err
	}
	namespace := cmp.Or(h.Namespace, where.Namespace)
	cluster, err := backend.Cluster(c, where, namespace)
	if err != nil {
		return nil, err
	}
	return &Host{h, number, config, cluster, namespace}, nil
}

// Pod returns the pod in which the host is running. The error is ErrNoPod if there is none.
func (h *Host) Pod(ctx context.Context) (kube.Pod, error) {
	pod, err := h.cluster.RunningPod(ctx, h.handle, h.number)
	if err == nil && pod == (kube.Pod{}) {
		err = ErrNoPod
	}
	return pod, err
}

// Dial connects to a port of the pod in which the host is running.
func (h *Host) Dial(ctx context.Context, port int) (*portforward.Conn, error) {
	pod, err := h.Pod(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := portforward.Dial(ctx, h.config, portforward.Port{Namespace: h.namespace, Pod: pod.Name, Number: port})
	return conn, h.cluster.ExplainForward(pod.Name, err)
}

// Run runs a program beside the call, in a pod that Pod has returned, and returns its exit code. The error is a
// RefusedError if it could not be started for want of a right, say, and another one if the connection broke.
func (h *Host) Run(ctx context.Context, pod kube.Pod, argv []string, s podexec.Streams) (int, error) {
	code, err := podexec.Run(ctx, h.config, podexec.Container{Namespace: h.namespace, Pod: pod.Name, Name: api.ContainerName}, argv, s)
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		err = &RefusedError{h.cluster.ExplainExec(pod.Name, err)}
	}
	return code, err
}

// RefusedError is an answer of the API server.
type RefusedError struct{ error }

// Unwrap returns the answer.
func (e *RefusedError) Unwrap() error { return e.error }

// WaitUntilGone returns nil when the host is no longer running in a pod that Pod has returned.
func (h *Host) WaitUntilGone(ctx context.Context, pod kube.Pod) error {
	return h.cluster.WatchPod(ctx, h.handle, h.number, func(now kube.Pod) bool { return now != pod })
}
