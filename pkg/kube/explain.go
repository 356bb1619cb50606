package kube

import (
	"context"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Explain reads once how a job stands, with what tells why it waits. Who may not
// read events or queues is told what the job and its pods say.
func (w *Workload) Explain(ctx context.Context, id string) (api.Status, error) {
	s, err := w.client.snapshot(ctx, id)
	if err != nil || !s.exists() {
		return w.status(s), err
	}
	if err := w.client.readInto(ctx, &s, w.client.reasonsOf(s.owner)); err != nil {
		return api.Status{}, err
	}
	return w.status(s), nil
}
