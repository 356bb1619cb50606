package kube

import (
	"context"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// Logs writes what the pods of a job printed, as logs.Read does.
func (c *Cluster) Logs(ctx context.Context, h api.Handle, a *logs.Archive, o logs.Options, out display.Streams) error {
	return logs.Read(ctx, logSource{c, h}, a, o, out)
}

type logSource struct {
	cluster *Cluster
	handle  api.Handle
}

func (s logSource) Pods(ctx context.Context) (logs.Pods, error) {
	now, err := s.cluster.client.snapshot(ctx, s.handle)
	if err != nil {
		return logs.Pods{}, err
	}
	return logPods(now), nil
}

func (s logSource) WatchPods(ctx context.Context, seen func(logs.Pods) bool) error {
	return s.cluster.observe(ctx, s.handle, func(now snapshot) bool { return seen(logPods(now)) })
}

func (s logSource) Open(ctx context.Context, p logs.Pod, o logs.OpenOptions) (io.ReadCloser, error) {
	c := s.cluster.client
	return c.openLog(ctx, PodName{c.namespace, p.Name}, api.ContainerName, o)
}

// openLog requests the log of a container in a pod, as logs.Source describes it.
func (c *Client) openLog(ctx context.Context, p PodName, container string, o logs.OpenOptions) (io.ReadCloser, error) {
	request := &corev1.PodLogOptions{Container: container, Timestamps: true, Follow: o.Follow}
	if !o.Since.IsZero() {
		request.SinceTime = &metav1.Time{Time: o.Since}
	}
	if o.Tail > 0 {
		request.TailLines = new(int64(o.Tail))
	}
	if o.Limit > 0 {
		request.LimitBytes = new(int64(o.Limit))
	}
	body, err := c.core.Get().Namespace(p.Namespace).Resource("pods").Name(p.Name).SubResource("log").
		VersionedParams(request, c.codec).Stream(ctx)
	if err != nil {
		err = c.explain(readLog, c.pods(), p.Name, err)
		return nil, &logs.SourceError{Reason: whyUnopened(err), Err: err}
	}
	return body, nil
}

func whyUnopened(err error) logs.Reason {
	switch {
	case apierrors.IsNotFound(err):
		return logs.Gone
	case apierrors.IsBadRequest(err):
		return logs.Unready
	case apiserver.Refused(err):
		return logs.Refused
	case apiserver.Unanswered(err):
		return logs.Unanswered
	}
	return logs.Temporary
}

func (s logSource) Now() time.Time { return s.cluster.client.now() }

func (s logSource) Warn(line string) { s.cluster.client.transport.Say("%s", line) }

func logPods(s snapshot) logs.Pods {
	pods := s.list()
	calls := slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool { return !diagnose.RunsCall(p) })
	all := logs.Pods{List: make([]logs.Pod, len(calls)), Grace: diagnose.Grace(pods) + noticeTime}
	all.JobEnded = s.State(pods).State.Ended()
	for i, p := range calls {
		worker := diagnose.WorkerOf(p)
		all.List[i] = logs.Pod{Name: p.Name, UID: string(p.UID), Host: diagnose.HostOf(p), Created: p.CreationTimestamp.Time,
			Started: diagnose.StartOf(worker), Running: worker.State.Running != nil, Deleted: p.DeletionTimestamp != nil}
		if t := worker.State.Terminated; t != nil {
			all.List[i].Ended, all.List[i].Finished = true, t.FinishedAt.Time
			all.List[i].Lost = t.Reason == "ContainerStatusUnknown"
		}
	}
	return all
}
