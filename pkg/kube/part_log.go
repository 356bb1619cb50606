package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// PartLog implements job.Backend.
func (c *Cluster) PartLog(ctx context.Context, h api.Handle, part string, o logs.Options, w io.Writer) error {
	number, container := api.PartPlace(part)
	pod := h.K8sName + "-0"
	if number > 0 {
		pod = fmt.Sprintf("%s-%d", pod, number)
	}
	if o.Follow {
		s := partSource{logSource: logSource{c, h}, pod: pod, container: container}
		now, err := c.client.snapshot(ctx, h)
		if err != nil {
			return err
		}
		switch status := s.status(now); {
		case !diagnose.StartOf(status).IsZero():
			s.id = status.ContainerID
			return s.follow(ctx, o.Tail, w)
		case status.LastTerminationState.Terminated == nil:
			return fmt.Errorf("container %s of pod %s has not started: %w", container, pod, fs.ErrNotExist)
		}
		// It waits to be started again: it has the log of its last run, which has ended.
	}
	asked := corev1.PodLogOptions{Container: container}
	if o.Tail >= 0 {
		asked.TailLines = new(int64(o.Tail))
	}
	k := c.client
	body, err := k.core.Get().Namespace(k.namespace).Resource("pods").Name(pod).SubResource("log").VersionedParams(&asked, k.codec).Stream(ctx)
	if err != nil {
		if reason := whyUnopened(err); reason == logs.Gone || reason == logs.Unready {
			return errors.Join(fs.ErrNotExist, err)
		}
		return k.explain(readLog, k.pods(), pod, err)
	}
	defer body.Close()
	_, err = io.Copy(w, body)
	return err
}

// follow writes the log of the container until that has ended, whatever happens to the connection.
func (s partSource) follow(ctx context.Context, tail int, w io.Writer) error {
	none := &logs.Archive{Store: store.None(errors.New("it has no log of a part that runs")), JobID: s.handle.JobID, WithoutLog: true}
	return logs.Read(ctx, s, none, logs.Options{Follow: true, Tail: tail}, display.Both(w))
}

// partSource is the source of the log of a part of the Pathways runtime: of one container, until that ends.
type partSource struct {
	logSource
	pod, container, id string
}

// status returns the status of what runs in the place of the container.
func (s partSource) status(now snapshot) corev1.ContainerStatus {
	for _, p := range now.pods {
		if p.Name == s.pod {
			return diagnose.StatusOf(slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses), s.container)
		}
	}
	return corev1.ContainerStatus{}
}

// parts returns the container as the only pod of a job that ends with it.
func (s partSource) parts(now snapshot) logs.Pods {
	status := s.status(now)
	if status.ContainerID != s.id || diagnose.StartOf(status).IsZero() {
		return logs.Pods{JobEnded: true}
	}
	ended := status.State.Terminated != nil
	return logs.Pods{JobEnded: ended, List: []logs.Pod{{Name: s.pod, UID: s.id, Started: diagnose.StartOf(status), Running: !ended, Ended: ended}}}
}

// WatchPods implements logs.Source.
func (s partSource) WatchPods(ctx context.Context, seen func(logs.Pods) bool) error {
	return s.cluster.observe(ctx, s.handle, func(now snapshot) bool { return seen(s.parts(now)) })
}

// Open implements logs.Source.
func (s partSource) Open(ctx context.Context, p logs.Pod, o logs.OpenOptions) (io.ReadCloser, error) {
	return s.cluster.client.openLog(ctx, PodName{s.cluster.client.namespace, p.Name}, s.container, o)
}

// Warn implements logs.Source. A log that was read to its end lacks nothing when its pod has gone.
func (partSource) Warn(string) {}
