package infra

import (
	"context"
	"sync"
)

// States is what was found, by resource.
type States map[ID]State

// Read looks at all resources at once, at those within another after that one. What is within
// something that doesn't exist, or is still being created, doesn't exist.
func Read(ctx context.Context, list []Resource) (States, error) {
	var mu sync.Mutex
	found := States{}
	err := walk(ctx, list, func(i Item) []ID { return []ID{i.Within} }, func(ctx context.Context, r Resource) error {
		mu.Lock()
		outer, inside := found[r.Within]
		mu.Unlock()
		if inside && (!outer.Exists || outer.Pending) {
			return nil
		}
		s, err := r.Actor.Get(ctx)
		mu.Lock()
		defer mu.Unlock()
		found[r.ID] = s
		return err
	})
	return found, err
}

// Apply does what the plan says, each step after those that it needs, at the same time where they are
// independent. After an error it finishes what doesn't depend on the resource that failed, and
// returns a *Failure.
func Apply(ctx context.Context, list []Resource, found States, plan Plan, tell Told) error {
	steps := map[ID]Action{}
	for _, s := range plan {
		steps[s.ID] = s.Action
	}
	return walk(ctx, list, Item.before, func(ctx context.Context, r Resource) error {
		have := found[r.ID]
		switch steps[r.ID] {
		case Fine, Differs:
			return nil
		case Change:
		default:
			have.Differences = nil
		}
		tell(Event{ID: r.ID})
		err := r.Actor.Ensure(ctx, have)
		tell(Event{ID: r.ID, Done: true, Err: err})
		return err
	})
}
