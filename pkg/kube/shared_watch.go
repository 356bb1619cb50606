package kube

import (
	"context"
	"maps"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/latest"
)

// sharedWatch is one observation of a job, for all who want it at the same time: a run
// waits for its job and reads its log.
type sharedWatch struct {
	snapshots *latest.Value[snapshot]
	stop      context.CancelFunc
	readers   int // guarded by the mutex of the Cluster
}

// watched says what is watched: a job, and whether it is known to be a Job of Kubernetes.
type watched struct {
	id    string
	isJob bool
}

func watchedAs(h api.Handle) watched { return watched{h.JobID, isJob(h)} }

// observe is that of the client, but shared: seen gets the newest snapshot each
// time, and misses one while it takes longer than the next change.
func (c *Cluster) observe(ctx context.Context, h api.Handle, seen func(snapshot) bool) error {
	shared := c.join(ctx, h)
	defer c.leave(h, shared)
	for {
		now, changed := shared.snapshots.Get()
		if now.Set && seen(now.Value) { // first, because the watch may have failed since
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

// join finds the watch of a job, or begins it.
func (c *Cluster) join(ctx context.Context, h api.Handle) *sharedWatch {
	c.mu.Lock()
	defer c.mu.Unlock()
	job := watchedAs(h)
	shared := c.watches[job]
	if shared == nil {
		ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // who begins it may leave first
		shared = &sharedWatch{snapshots: latest.New(snapshot{}), stop: stop}
		c.watches[job] = shared
		go func() {
			shared.snapshots.Close(c.client.observe(ctx, h, c.client.ofJob(h), shared.post))
		}()
	}
	shared.readers++
	return shared
}

// post takes a copy: the snapshot is changed afterwards.
func (w *sharedWatch) post(s snapshot) (enough bool) {
	s.pods, s.events, s.kueueWorkloads = maps.Clone(s.pods), maps.Clone(s.events), maps.Clone(s.kueueWorkloads)
	w.snapshots.Set(s)
	return false
}

// leave ends the watch with its last reader.
func (c *Cluster) leave(h api.Handle, shared *sharedWatch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if shared.readers--; shared.readers == 0 {
		shared.stop()
		delete(c.watches, watchedAs(h))
	}
}
