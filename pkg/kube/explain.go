package kube

import (
	"context"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Explain reads once how a job stands, with what says why it waits. Who may not
// read events or queues is told what the job and its pods say.
func (w *Cluster) Explain(ctx context.Context, id string) (api.Status, error) {
	s, err := w.client.explained(ctx, id)
	if err != nil {
		return api.Status{}, err
	}
	return w.status(s), nil
}

// Losses returns when pods of a job were taken away, and why, in that order: as far as
// the pods that are there say, and the events, which a cluster keeps for an hour or so.
func (w *Cluster) Losses(ctx context.Context, id string) ([]api.Loss, error) {
	known, job := newCache(), key{w.client.namespace, id}
	if err := w.client.readInto(ctx, known, w.client.ofJob(id)); err != nil {
		return nil, err
	}
	s := known.snapshot(job)
	if !s.Exists() {
		return nil, s.unseen()
	}
	events := w.client.reasons(false)
	events[0].keep = about(s.Meta())
	if err := w.client.readInto(ctx, known, events); err != nil {
		return nil, err
	}
	s = known.snapshot(job)
	return s.observed(w.client.now()).Disruptions(), nil
}
