package kube

import (
	"context"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

// WatchList calls seen with all jobs of the namespace, then with those that may have changed,
// until ctx is done, seen returns an error, or the cluster refuses. A job whose workload was
// removed is NotFound.
func (c *Cluster) WatchList(ctx context.Context, level api.ListLevel, seen func([]api.JobSummary) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := make(chan change)
	selections := c.listed(level, joblist.Selector)
	if level >= api.ListReasons {
		selections = append(selections, c.explaining(true)...) // a job may come to a queue later
	}
	failed := make(chan error)
	unread := map[kind]bool{}
	for _, s := range selections {
		unread[s.kind] = true
		c.client.send(ctx, s, changes, failed)
	}
	known := newCache()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case ch := <-changes:
			c.leftOut(ch.denied)
			keys := known.apply(ch)
			first := unread[ch.kind]
			delete(unread, ch.kind)
			if len(unread) > 0 || len(keys) == 0 && !first {
				continue
			}
			if first {
				keys = known.all()
			}
			if first && len(keys) == 0 {
				if err := c.client.missingNamespace(ctx); err != nil {
					return err
				}
			}
			if err := seen(c.summaries(ctx, known, keys, level)); err != nil {
				return err
			}
		}
	}
}
