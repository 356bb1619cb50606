package kube

import (
	"context"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Explain reads once how a job stands, with the events that tell why it waits. Who
// may not read events is told what the job and its pods say.
func (w *Workload) Explain(ctx context.Context, id string) (api.Status, error) {
	s, err := w.client.snapshot(ctx, id)
	if err != nil || !s.exists() {
		return w.status(s), err
	}
	_, events := w.client.selections("")
	found, err := w.client.readPart(ctx, about(events, s.meta().Name))
	if err != nil {
		return api.Status{}, err
	}
	s.apply(change{kind: events.kind, reset: true, all: found})
	return w.status(s), nil
}
