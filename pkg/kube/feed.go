package kube

import (
	"context"
	"maps"
	"sync"
)

// feed is one observation of a job, for all who want it at the same time: a run
// waits for its job and reads its log.
type feed struct {
	stop    context.CancelFunc
	readers int // guarded by the mutex of the Cluster

	mu   sync.Mutex
	some bool // there is a snapshot
	now  snapshot
	over bool // there will be no newer one, because of err
	err  error
	news chan struct{} // closed and replaced at every change
}

// observe is that of the client, but shared: seen gets the newest snapshot each
// time, and misses one while it takes longer than the next change.
func (w *Cluster) observe(ctx context.Context, id string, seen func(snapshot) bool) error {
	f := w.join(ctx, id)
	defer w.leave(id, f)
	for {
		f.mu.Lock()
		some, now, over, err, news := f.some, f.now, f.over, f.err, f.news
		f.mu.Unlock()
		if over {
			return err
		}
		if some && seen(now) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-news:
		}
	}
}

// join finds the feed of a job, or begins it.
func (w *Cluster) join(ctx context.Context, id string) *feed {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.feeds[id]
	if f == nil {
		ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // who begins it may leave first
		f = &feed{stop: stop, news: make(chan struct{})}
		w.feeds[id] = f
		go func() {
			err := w.client.observe(ctx, id, w.client.ofJob(id), f.post)
			f.change(func() { f.over, f.err = true, err })
		}()
	}
	f.readers++
	return f
}

// leave ends the feed with its last reader.
func (w *Cluster) leave(id string, f *feed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.readers--; f.readers == 0 {
		f.stop()
		delete(w.feeds, id)
	}
}

// post takes a copy: the snapshot goes on changing.
func (f *feed) post(s snapshot) (enough bool) {
	s.pods, s.events, s.kueueWorkloads = maps.Clone(s.pods), maps.Clone(s.events), maps.Clone(s.kueueWorkloads)
	f.change(func() { f.some, f.now = true, s })
	return false
}

func (f *feed) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.news)
	f.news = make(chan struct{})
}
