package kube

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// checkKueue says of a job in a queue where the cluster has no queues, so that its
// label means nothing, or a Kueue too new to be read. A queue that doesn't exist is
// told by the job that waits in it.
func (w *Workload) checkKueue(ctx context.Context, workload *unstructured.Unstructured) {
	queue := workload.GetLabels()[api.LabelQueue]
	if queue == "" {
		return
	}
	var group metav1.APIGroup
	err := retry(ctx, func() error {
		data, err := answered(w.client.asJSON(w.client.core.Get(), "/apis", turnVersion.Group).Do(ctx))
		if err != nil {
			return err
		}
		return json.Unmarshal(data, &group)
	})
	var versions []string
	for _, v := range group.Versions {
		versions = append(versions, v.Version)
	}
	switch {
	case apierrors.IsNotFound(err): // of any other failure the next request tells
		w.client.wire.say("queue %s: the cluster has no Kueue, so that nothing looks after queues: the job does not wait for its turn", queue)
	case err == nil && !slices.Contains(versions, turnVersion.Version) && !slices.Contains(versions, newerTurnVersion.Version):
		w.client.wire.say("queue %s: the cluster's Kueue serves %s of its API, not %s or %s: why the job waits there can't be told; a newer kubectl kinetic may know",
			queue, strings.Join(versions, " and "), turnVersion.Version, newerTurnVersion.Version)
	}
}
