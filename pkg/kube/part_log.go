package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
)

// PartLog implements job.Backend.
func (c *Cluster) PartLog(ctx context.Context, h api.Handle, part string, o logs.Options, w io.Writer) error {
	number, container := api.PartPlace(part)
	pod := h.K8sName + "-0"
	if number > 0 {
		pod = fmt.Sprintf("%s-%d", pod, number)
	}
	asked := corev1.PodLogOptions{Container: container, Follow: o.Follow}
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
