package infra

import (
	"context"
	"errors"
	"fmt"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"slices"
	"sync"
	"testing"
)

var names = config.Names{Project: "acme", Zone: "us-central1-a", Cluster: "research", Namespace: "ml"}

func wanted() Wanted {
	return Wanted{Names: names, Pools: []string{"tpu-v6e-8-1f3c"}, Queue: "kinetic", Profile: "research"}
}

// world is a project in memory: what exists, and what was done in which order.
type world struct {
	mu      sync.Mutex
	exists  map[ID]State
	asked   []ID
	created []ID
	deleted []ID
	// ensuring is called when a resource is about to be created or changed, created after that.
	ensuring func(context.Context, ID) error
	after    func(ID) error
	deleting func(ID) error
}

func newWorld() *world {
	return &world{exists: map[ID]State{}, ensuring: func(context.Context, ID) error { return nil },
		after: func(ID) error { return nil }, deleting: func(ID) error { return nil }}
}

func (w *world) resources(items []Item) []Resource {
	var list []Resource
	for _, item := range items {
		list = append(list, Resource{Item: item, Actor: thing{w, item, items}})
	}
	return list
}

// thing is a resource of a world. It refuses what a real one would refuse.
type thing struct {
	world *world
	item  Item
	all   []Item
}

func (t thing) Get(ctx context.Context) (State, error) {
	t.world.mu.Lock()
	defer t.world.mu.Unlock()
	t.world.asked = append(t.world.asked, t.item.ID)
	if t.item.Within != (ID{}) && !t.world.exists[t.item.Within].Exists {
		return State{}, fmt.Errorf("reading %s, which is in nothing", t.item.ID)
	}
	return t.world.exists[t.item.ID], ctx.Err()
}

func (t thing) Ensure(ctx context.Context, have State) error {
	if err := t.world.ensuring(ctx, t.item.ID); err != nil {
		return err
	}
	t.world.mu.Lock()
	defer t.world.mu.Unlock()
	for _, id := range t.item.before() {
		if !t.world.exists[id].Exists {
			return fmt.Errorf("%s: created before %s", t.item.ID, id)
		}
	}
	now := t.world.exists[t.item.ID]
	if !now.Exists {
		t.world.created = append(t.world.created, t.item.ID)
	}
	now.Exists, now.Missing = true, nil
	if have.Differences != nil {
		now.Differences = nil
	}
	t.world.exists[t.item.ID] = now
	return t.world.after(t.item.ID)
}

func (t thing) Delete(context.Context) error {
	if err := t.world.deleting(t.item.ID); err != nil {
		return err
	}
	t.world.mu.Lock()
	defer t.world.mu.Unlock()
	for _, other := range t.all {
		if slices.Contains(other.Needs, t.item.ID) && other.Turn == t.item.Turn && t.world.exists[other.ID].Exists && other.Stays == "" && other.Within == (ID{}) {
			return fmt.Errorf("%s: deleted before %s", t.item.ID, other.ID)
		}
	}
	t.world.remove(t.item.ID, t.all)
	t.world.deleted = append(t.world.deleted, t.item.ID)
	return nil
}

func (w *world) remove(id ID, all []Item) {
	delete(w.exists, id)
	for _, other := range all {
		if other.Within == id {
			w.remove(other.ID, all)
		}
	}
}

// up reads, plans and applies.
func (w *world) up(ctx context.Context, items []Item, reconcile bool) error {
	list := w.resources(items)
	found, err := Read(ctx, list)
	if err != nil {
		return err
	}
	return Apply(ctx, list, found, MakePlan(items, found, reconcile), func(Event) {})
}

// down reads, plans and removes.
func (w *world) down(ctx context.Context, items []Item) (Removals, error) {
	list := w.resources(items)
	found, err := Read(ctx, list)
	if err != nil {
		return nil, err
	}
	plan := PlanRemoval(items, found, false)
	return plan, Remove(ctx, list, plan, func(Event) {})
}

// complete fails the test unless everything exists and was created once.
func (w *world) complete(t *testing.T, items []Item) {
	t.Helper()
	for _, item := range items {
		if !w.exists[item.ID].Exists {
			t.Errorf("%s doesn't exist", item.ID)
		}
	}
	if len(w.created) != len(items) {
		t.Errorf("created %d resources, want each of %d once: %v", len(w.created), len(items), w.created)
	}
}

var errRefused = errors.New("refused")
