package kube

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Losses tells when pods of a job were taken away, and why, in that order: as far as
// the pods that are there say, and the events, which a cluster keeps for an hour or so.
func (w *Workload) Losses(ctx context.Context, id string) ([]api.Loss, error) {
	s, err := w.client.snapshot(ctx, id)
	if err != nil || !s.exists() {
		return nil, err
	}
	if err := w.client.readInto(ctx, &s, w.client.reasonsOf(s.owner)); err != nil {
		return nil, err
	}
	return losses(s), nil
}

// losses of a snapshot. The word of a pod comes before that of an event of the same
// second, which says less.
func losses(s snapshot) []api.Loss {
	var all []api.Loss
	for _, p := range s.list() {
		if why := disruption(p); why != "" {
			all = append(all, api.Loss{Time: podCondition(p, corev1.DisruptionTarget).LastTransitionTime.UTC(), Why: why})
		}
	}
	for _, e := range s.events {
		if why := lossOf(e); why != "" {
			all = append(all, api.Loss{Time: eventTime(&e).UTC(), Why: why})
		}
	}
	slices.SortStableFunc(all, func(a, b api.Loss) int { return a.Time.Compare(b.Time) })
	return all
}

// lossOf is what an event tells of a pod that was taken away, or of a job whose queue
// took its turn back; "" for any other.
func lossOf(e corev1.Event) string {
	switch {
	case e.InvolvedObject.Kind == "Job" && e.Reason == "Stopped":
		return "Kueue took its turn back" + prefixed(": ", wanted(e.Message))
	case e.InvolvedObject.Kind != "Pod":
		return ""
	case e.Reason == "Preempted":
		return "preempted by a pod of higher priority"
	case isTaintEviction(e):
		return "its node was lost or closed to it"
	}
	return ""
}

// isTaintEviction tells of a pod that leaves its node, and not that it may stay.
func isTaintEviction(e corev1.Event) bool {
	return e.Reason == "TaintManagerEviction" && strings.HasPrefix(e.Message, "Marking for deletion")
}
