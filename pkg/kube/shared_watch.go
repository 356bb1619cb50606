package kube

import (
	"context"
	"maps"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
)

// sharedWatch is one observation of a job, shared by all that need it at the same time: a run
// waits for the job and reads its log.
type sharedWatch struct {
	snapshots *parallel.Value[snapshot]
	stop      context.CancelFunc
	readers   int // guarded by the mutex of the Cluster
}

// watched identifies a watch: the job, and whether it is known to be a Job of Kubernetes.
type watched struct {
	id    string
	isJob bool
}

func watchedAs(h api.Handle) watched { return watched{h.JobID, isJob(h)} }

// observe does what Client.observe does, over a shared watch: seen is called with the newest
// snapshot, and not with those that were replaced while it was busy.
func (c *Cluster) observe(ctx context.Context, h api.Handle, seen func(snapshot) bool) error {
	shared := c.join(ctx, h)
	defer c.leave(h, shared)
	for {
		now, changed := shared.snapshots.Get()
		if now.Set && seen(now.Value) { // before Closed: the watch may have failed since
			return nil
		}
		if now.Closed {
			return now.Err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// join returns the watch of a job, which it starts if there is none.
func (c *Cluster) join(ctx context.Context, h api.Handle) *sharedWatch {
	c.mu.Lock()
	defer c.mu.Unlock()
	job := watchedAs(h)
	shared := c.watches[job]
	if shared == nil {
		ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // other readers may stay longer
		shared = &sharedWatch{snapshots: parallel.NewValue(snapshot{}), stop: stop}
		c.watches[job] = shared
		go func() {
			shared.snapshots.Close(c.client.observe(ctx, h, c.client.ofJob(h), shared.post))
		}()
	}
	shared.readers++
	return shared
}

// post publishes a copy of a snapshot, which is changed afterwards.
func (w *sharedWatch) post(s snapshot) (enough bool) {
	s.pods, s.events, s.kueueWorkloads = maps.Clone(s.pods), maps.Clone(s.events), maps.Clone(s.kueueWorkloads)
	w.snapshots.Set(s)
	return false
}

// leave ends the watch if no other reader is left.
func (c *Cluster) leave(h api.Handle, shared *sharedWatch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if shared.readers--; shared.readers == 0 {
		shared.stop()
		delete(c.watches, watchedAs(h))
	}
}
