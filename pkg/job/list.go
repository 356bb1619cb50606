package job

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Entry is one line of a list of jobs.
type Entry struct {
	ID          string    `json:"id"`
	Namespace   string    `json:"namespace,omitempty"`
	State       api.State `json:"state"`
	Function    string    `json:"function"`
	Accelerator string    `json:"accelerator"`
	Created     time.Time `json:"created"`
	Store       string    `json:"store"`
	// Status of the workload, or how the store says that the job ended.
	Status api.Status `json:"status"`
}

// Filter chooses jobs.
type Filter struct {
	// States, when there are any, are the only ones wanted.
	States []api.State
	// Stored also takes jobs that have no workload any more, Remnants with it
	// what has no handle either: outputs, mostly.
	Stored, Remnants bool
	// Before, when set, takes only jobs created before that moment.
	Before time.Time
	// Limit is the number of jobs at most, the newest first; 0 is all.
	Limit int
}

func (f Filter) wants(e Entry) bool {
	if len(f.States) > 0 && !slices.Contains(f.States, e.State) {
		return false
	}
	return f.Before.IsZero() || e.Created.Before(f.Before)
}

// Entries lists the jobs that the filter chooses, the newest first. Next to an
// error it gives those that could be read.
func (p Place) Entries(ctx context.Context, f Filter) ([]Entry, error) {
	found, unread := p.List(ctx)
	entries := make([]Entry, 0, len(found))
	for _, w := range found {
		entries = append(entries, Entry{ID: w.ID, Namespace: w.Namespace, State: w.Status.State, Function: w.Function,
			Accelerator: w.Accelerator, Created: w.Created, Store: w.Store, Status: w.Status})
	}
	if f.Stored {
		stored, err := p.stored(ctx, entries, f.Remnants)
		if err != nil {
			return nil, errors.Join(unread, err)
		}
		entries = append(entries, stored...)
	}
	entries = slices.DeleteFunc(entries, func(e Entry) bool { return !f.wants(e) })
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
	})
	if f.Limit > 0 && len(entries) > f.Limit {
		entries = entries[:f.Limit]
	}
	return entries, unread
}

// readers is how many documents are read at a time.
const readers = 16

// stored lists the jobs of the store that are not among the known ones. What
// has no handle, or none that this version can read, is a remnant.
func (p Place) stored(ctx context.Context, known []Entry, remnants bool) ([]Entry, error) {
	dirs, err := p.Store.Dirs(ctx)
	if err != nil {
		return nil, err
	}
	have := make(map[string]bool, len(known))
	for _, e := range known {
		have[e.ID] = true
	}
	ids := slices.DeleteFunc(dirs, func(id string) bool { return have[id] || store.CheckID(id) != nil })
	entries := make([]Entry, len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for i, id := range ids {
		g.Go(func() error {
			e, err := p.storedEntry(ctx, id)
			entries[i] = e
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if !remnants {
		entries = slices.DeleteFunc(entries, func(e Entry) bool { return e.Function == "" })
	}
	return entries, nil
}

func (p Place) storedEntry(ctx context.Context, id string) (Entry, error) {
	remnant := Entry{ID: id, State: api.NotFound, Store: p.Store.URL(), Status: api.Status{State: api.NotFound}}
	data, err := readObject(ctx, p.Store, store.Handle(id))
	if errors.Is(err, store.ErrNotFound) {
		return remnant, nil
	}
	if err != nil {
		return Entry{}, err
	}
	h, err := api.ParseHandle(data)
	if err != nil {
		return remnant, nil
	}
	status, err := (&Job{Handle: h, Store: p.Store}).remembered(ctx)
	if err != nil {
		return Entry{}, err
	}
	return Entry{ID: id, Namespace: h.Namespace, State: api.NotFound, Function: h.FuncName, Accelerator: h.Accelerator,
		Created: h.CreatedAt, Store: p.Store.URL(), Status: status}, nil
}
