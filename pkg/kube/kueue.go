package kube

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// checkKueue says of a job in a queue where the cluster has no queues: there its label
// means nothing. A queue that doesn't exist is told by the job that waits in it.
func (w *Workload) checkKueue(ctx context.Context, workload *unstructured.Unstructured) {
	queue := workload.GetLabels()[api.LabelQueue]
	if queue == "" {
		return
	}
	err := retry(ctx, func() error {
		return w.client.asJSON(w.client.core.Get(), "/apis", turnVersion.Group).Do(ctx).Error()
	})
	if apierrors.IsNotFound(err) { // of any other failure the next request tells
		w.client.wire.say("queue %s: the cluster has no Kueue, so that nothing looks after queues: the job does not wait for its turn", queue)
	}
}
