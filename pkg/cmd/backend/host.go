package backend

import (
	"cmp"
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/podconn"
)

// ErrNoPod says that a host has no pod at the moment.
var ErrNoPod = errors.New("no pod of the job is running")

// Host is one host of a job in a cluster. Its pod may change.
type Host struct {
	handle  api.Handle
	number  int
	cluster *kube.Cluster
}

// NewHost returns a host of a job in a cluster.
func NewHost(cluster *kube.Cluster, h api.Handle, number int) *Host {
	if h.Host != "" { // the pod is that of the warm host
		h = warm.HostOf(h)
	}
	return &Host{h, number, cluster}
}

// HostOf returns a host of a job in the cluster that the flags choose. It contacts nothing.
func HostOf(c *connect.Flags, h api.Handle, number int) (*Host, error) {
	where, err := c.ResolveJobs()
	if err != nil {
		return nil, cli.Usage(err)
	}
	h.Namespace = cmp.Or(h.Namespace, where.Namespace)
	cluster, err := Cluster(c, where, h.Namespace)
	if err != nil {
		return nil, err
	}
	return NewHost(cluster, h, number), nil
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
func (h *Host) Dial(ctx context.Context, port int) (*podconn.Conn, error) {
	pod, err := h.Pod(ctx)
	if err != nil {
		return nil, err
	}
	return h.dialPod(ctx, pod, port)
}

func (h *Host) dialPod(ctx context.Context, pod kube.Pod, port int) (*podconn.Conn, error) {
	conn, err := podconn.Dial(ctx, h.cluster.Config(), podconn.Port{Namespace: h.handle.Namespace, Pod: pod.Name, Number: port})
	return conn, h.cluster.ExplainForward(pod.Name, err)
}

// Run runs a program beside the call, in a pod that Pod has returned, and returns its exit code. The error is a
// RefusedError if it could not be started, and another one if the connection broke.
func (h *Host) Run(ctx context.Context, pod kube.Pod, argv []string, s podconn.Streams) (int, error) {
	code, err := podconn.Exec(ctx, h.cluster.Config(), podconn.Container{Namespace: h.handle.Namespace, Pod: pod.Name, Name: api.ContainerName}, argv, s)
	if errors.As(err, new(apierrors.APIStatus)) {
		err = &RefusedError{Err: h.cluster.ExplainExec(pod.Name, err)}
	}
	return code, err
}

// RefusedError is an answer of the API server: a right is missing, or the pod or its node can't be reached.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the answer.
func (e *RefusedError) Unwrap() error { return e.Err }

// LacksRight reports whether an error of Run is that no pod can be reached, for want of a right.
func LacksRight(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// WaitUntilGone returns nil when the host is no longer running in a pod that Pod has returned.
func (h *Host) WaitUntilGone(ctx context.Context, pod kube.Pod) error {
	return h.cluster.WatchPod(ctx, h.handle, h.number, func(now kube.Pod) bool { return now != pod })
}
