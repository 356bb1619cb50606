// Package prune finds and deletes what the jobs of a store share and none has used for some time:
// blobs, and directories of data, which submits and running jobs renew. It also finds the outputs of jobs that were cleaned up.
package prune

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Item is an object, or a directory with many, that is deleted as a whole.
type Item struct {
	// Name is relative to the store's URL; the name of a directory ends in a slash.
	Name    string `json:"name"`
	Objects int    `json:"objects"`
	Bytes   int64  `json:"bytes"`
	// Updated is when it was last used: written or renewed.
	Updated time.Time `json:"updated"`

	objects []store.Object // sorted by name, so that the record of a directory comes first
}

// Plan is what is to be deleted.
type Plan struct {
	// Items were not used for some time, sorted by name.
	Items []Item
	// Outputs belong to jobs that were cleaned up, sorted by ID.
	Outputs []Outputs
	// Objects and Bytes count both.
	Objects int
	Bytes   int64

	store store.Store
	ended map[string]bool // IDs of jobs that had ended, with outputs
}

// Find finds what was not used for a time, and with outputs the outputs of jobs that were cleaned
// up, however old they are. It deletes nothing.
func Find(ctx context.Context, s store.Store, unused time.Duration, outputs bool) (*Plan, error) {
	p := &Plan{store: s}
	for _, prefix := range []string{store.Blobs(), store.Data()} {
		if err := p.find(ctx, prefix, unused); err != nil {
			return nil, err
		}
	}
	if outputs {
		if err := p.findOutputs(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Plan) find(ctx context.Context, prefix string, unused time.Duration) error {
	var item Item
	end := func() {
		if item.Objects > 0 && p.store.Now().Sub(item.Updated) > unused {
			p.Items = append(p.Items, item)
			p.Objects += item.Objects
			p.Bytes += item.Bytes
		}
	}
	for o, err := range p.store.List(ctx, prefix, "") {
		if err != nil {
			return err
		}
		name := store.Shared(o.Name)
		if name == "" { // not ours
			continue
		}
		if name != item.Name {
			end()
			item = Item{Name: name}
		}
		item.add(o)
	}
	end()
	return nil
}

// add adds an object. A directory is as old as its newest object: its record stands for all of them.
func (i *Item) add(o store.Object) {
	i.Objects++
	i.Bytes += o.Size
	i.objects = append(i.objects, o)
	if o.Updated.After(i.Updated) {
		i.Updated = o.Updated.UTC()
	}
}

// Done counts what was deleted.
type Done struct {
	Objects int
	Bytes   int64
}

// Delete deletes what is in the plan. It keeps whatever was replaced or renewed after it was listed, and takes outputs that a
// job submitted since uses out of the plan.
// After an error or an interrupt, Done counts what was deleted before. progress is called by one goroutine at a time.
func (p *Plan) Delete(ctx context.Context, progress func(Done)) (Done, error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(store.Parallel)
	d := &deletion{store: p.store, group: g, progress: progress}
	err := d.items(ctx, p.Items)
	if err == nil {
		err = p.keepUsed(ctx)
	}
	for _, left := range p.Outputs {
		if err != nil {
			break
		}
		d.all(ctx, left.objects)
	}
	if failed := g.Wait(); failed != nil {
		err = failed
	}
	return d.done, err
}

// deletion is the state of one call of Delete.
type deletion struct {
	store    store.Store
	group    *errgroup.Group
	progress func(Done)

	mu   sync.Mutex // guards done, and calls of progress
	done Done
}

// items deletes items. The record of a directory goes before the rest: if a submit has renewed it
// meanwhile, the directory stays; if the rest is not deleted, nobody relies on it.
func (d *deletion) items(ctx context.Context, items []Item) error {
	for _, item := range items {
		rest := item.objects
		if len(rest) > 1 {
			deleted, err := d.one(ctx, rest[0])
			if err != nil {
				return err
			}
			if !deleted {
				continue
			}
			rest = rest[1:]
		}
		d.all(ctx, rest)
	}
	return nil
}

func (d *deletion) all(ctx context.Context, objects []store.Object) {
	for _, o := range objects {
		d.group.Go(func() error {
			_, err := d.one(ctx, o)
			return err
		})
	}
}

func (d *deletion) one(ctx context.Context, o store.Object) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	deleted, err := d.store.DeleteListed(ctx, o)
	if !deleted {
		return false, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done.Objects++
	d.done.Bytes += o.Size
	d.progress(d.done)
	return true, nil
}
