package logs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// StoredUntil is Stored for a job that runs: it also writes what the store gets until over is closed. Then the store must have the whole
// log. The lines of several hosts are written only then, since they are in order only then.
func StoredUntil(ctx context.Context, s store.Store, id string, o Options, w display.Streams, over <-chan struct{}) error {
	c := newCopier(s)
	tail := o.Tail
	for ended := false; ; {
		select {
		case <-over:
			ended = true
		default:
		}
		switch {
		case ended && c.last.object == "":
			o.Tail = tail
			return Stored(ctx, s, id, o, w)
		case !o.Merges():
			if err := c.news(ctx, id, o, tail, w); err != nil {
				return err
			}
			if c.last.object != "" || tail == 0 { // what comes was printed later
				tail = -1
			}
		}
		if ended {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
		case <-time.After(archiveInterval):
		}
	}
}

// news copies the parts of the chosen host that the store has got since the last time, or, the first time, the last tail lines.
func (c *copier) news(ctx context.Context, id string, o Options, tail int, w display.Streams) error {
	all, err := partsFor(ctx, c.store, id, o)
	if err != nil {
		return err
	}
	parts := slices.DeleteFunc(all, func(p part) bool {
		other := o.Host >= 0 && p.host != o.Host || o.Attempt > 0 && p.attempt != o.Attempt
		return other || c.last.object != "" && cmp.Or(cmp.Compare(p.attempt, c.last.attempt), cmp.Compare(p.number, c.last.number)) <= 0
	})
	if len(parts) == 0 {
		return nil
	}
	if c.decoder == nil {
		c.decoder = o.decoder(w, parts[0].host)
	}
	if err := c.host(ctx, parts, tail); err != nil {
		return fmt.Errorf("reading the log of job %s in %s: %w", id, c.store.URL(), err)
	}
	c.last = parts[len(parts)-1] // also if the last 0 lines are wanted
	return nil
}
