// Package prune finds and deletes what the jobs of a store shared, and none of them names any more:
// blobs, and directories of data.
package prune

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Outputs are those of a job that was cleaned up without them, with what its runner kept about them.
type Outputs struct {
	ID      string `json:"id"`
	URL     string `json:"url"`
	Objects int    `json:"objects"`
	Bytes   int64  `json:"bytes"`
}

// Plan is what is to be deleted.
type Plan struct {
	// Objects and Bytes count what nothing names.
	Objects int
	Bytes   int64
	// Outputs are outputs without a handle, sorted by ID. They are not among Objects.
	Outputs []Outputs

	store   store.Store
	listing listing
	before  time.Time
}

func newPlan(s store.Store, l listing, before time.Time, outputs []Outputs) *Plan {
	slices.SortFunc(outputs, func(a, b Outputs) int { return cmp.Compare(a.ID, b.ID) })
	p := &Plan{store: s, listing: l, before: before, Outputs: outputs}
	for item := range p.Items() {
		p.Objects += item.Objects
		p.Bytes += item.Bytes
	}
	return p
}

// Items yields what nothing names, sorted by name.
func (p *Plan) Items() iter.Seq[Item] { return p.listing.items() }

// Done counts what was deleted.
type Done struct {
	Objects int
	Bytes   int64
}

// Delete deletes what nothing names, and the outputs too if that is wanted. It keeps whatever was
// replaced or renewed after it was listed. After an error or an interrupt, Done says what went.
// progress is called by one goroutine at a time.
func (p *Plan) Delete(ctx context.Context, outputs bool, progress func(Done)) (Done, error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(store.Parallel)
	d := &deletion{plan: p, group: g, progress: progress}
	err := d.items(ctx)
	if err == nil && outputs {
		err = d.outputs(ctx)
	}
	if deleted := g.Wait(); deleted != nil {
		err = deleted
	}
	return d.done, err
}

// deletion is the state of one call of Delete.
type deletion struct {
	plan     *Plan
	group    *errgroup.Group
	progress func(Done)

	mu   sync.Mutex
	done Done
}

func (d *deletion) items(ctx context.Context) error {
	for item := range d.plan.Items() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if item.tree == "" {
			d.one(ctx, store.Object{Name: item.Name, Size: item.Bytes, Generation: item.generation})
			continue
		}
		if err := d.tree(ctx, item.tree); err != nil {
			return err
		}
	}
	return nil
}

// one deletes an object in the background, and counts it.
func (d *deletion) one(ctx context.Context, o store.Object) {
	d.group.Go(func() error {
		deleted, err := d.plan.store.DeleteListed(ctx, o)
		if deleted {
			d.count(o)
		}
		return err
	})
}

func (d *deletion) count(o store.Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done.Objects++
	d.done.Bytes += o.Size
	d.progress(d.done)
}

// tree deletes a directory, its record first. If the record was renewed meanwhile, so that a submit
// relies on it, the directory stays.
func (d *deletion) tree(ctx context.Context, name string) error {
	for o, err := range d.plan.store.List(ctx, store.Data()+name, "") {
		if err != nil {
			return err
		}
		of, record := store.DataOf(o.Name)
		if of != name {
			continue
		}
		if record {
			deleted, err := false, error(nil)
			if o.Updated.Before(d.plan.before) {
				deleted, err = d.plan.store.DeleteListed(ctx, o)
			}
			if err != nil || !deleted {
				return err
			}
			d.count(o)
			continue
		}
		if o.Updated.Before(d.plan.before) {
			d.one(ctx, o)
		}
	}
	return nil
}

// outputs deletes the outputs that have no handle.
func (d *deletion) outputs(ctx context.Context) error {
	for _, left := range d.plan.Outputs {
		for o, err := range d.plan.store.List(ctx, left.ID+"/", "") {
			if err != nil {
				return err
			}
			if isOutput(left.ID, o.Name) {
				d.one(ctx, o)
			}
		}
	}
	return nil
}
