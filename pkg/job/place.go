package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/nearest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Found is a workload that exists.
type Found struct {
	ID          string
	Store       string // URL
	Function    string
	Accelerator string
	Created     time.Time
	Status      api.Status
}

// Place is where jobs live: their workloads, and the stores they use.
type Place struct {
	Workload Workload
	// List tells which workloads exist, in any order.
	List func(ctx context.Context) ([]Found, error)
	// OpenStore opens the store of a workload, by its URL.
	OpenStore func(url string) (store.Store, error)
	// Store is where jobs are looked for that have no workload any more.
	Store store.Store
}

// IDError is an id that names no job, or more than one.
type IDError struct{ msg string }

func (e *IDError) Error() string { return e.msg }

// Attach finds the job that an id, or a prefix of one that no other job has,
// names. The error is an IDError when there is no such job or several.
func (p Place) Attach(ctx context.Context, prefix string) (*Job, error) {
	found, err := p.List(ctx)
	if err != nil {
		return nil, err
	}
	ids, err := p.ids(ctx, found)
	if err != nil {
		return nil, err
	}
	id, err := match(prefix, ids)
	if err != nil {
		return nil, err
	}
	s := p.Store
	if i := slices.IndexFunc(found, func(f Found) bool { return f.ID == id }); i >= 0 && found[i].Store != s.URL() {
		if s, err = p.OpenStore(found[i].Store); err != nil {
			return nil, err
		}
	}
	return p.open(ctx, s, id)
}

func (p Place) open(ctx context.Context, s store.Store, id string) (*Job, error) {
	data, err := readObject(ctx, s, store.Handle(id))
	if errors.Is(err, store.ErrNotFound) {
		return nil, &IDError{fmt.Sprintf("job %s: there is no handle of it in %s: it was cleaned up", id, s.URL())}
	}
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", id, err)
	}
	h, err := api.ParseHandle(data)
	if err != nil {
		return nil, fmt.Errorf("job %s: %s/%s: %w", id, s.URL(), store.Handle(id), err)
	}
	if h.JobID != id {
		return nil, fmt.Errorf("job %s: %s/%s describes another job, %s", id, s.URL(), store.Handle(id), h.JobID)
	}
	return &Job{Handle: h, Store: s, Workload: p.Workload}, nil
}

// ids lists every job that has a workload or lies in the store.
func (p Place) ids(ctx context.Context, found []Found) ([]string, error) {
	stored, err := p.Store.Dirs(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(found)+len(stored))
	for _, f := range found {
		ids = append(ids, f.ID)
	}
	for _, id := range stored {
		if store.CheckID(id) == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// match finds the one id that equals the prefix or begins with it.
func match(prefix string, ids []string) (string, error) {
	if prefix == "" {
		return "", &IDError{"the job id is empty; kubectl kinetic jobs list shows them"}
	}
	if _, ok := slices.BinarySearch(ids, prefix); ok {
		return prefix, nil
	}
	var hits []string
	for _, id := range ids {
		if strings.HasPrefix(id, prefix) {
			hits = append(hits, id)
		}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		return "", &IDError{unknownID(prefix, ids)}
	default:
		return "", &IDError{fmt.Sprintf("job %q: %d jobs begin with it: %s; give more of the id", prefix, len(hits), some(hits, 5))}
	}
}

func unknownID(prefix string, ids []string) string {
	if len(ids) == 0 {
		return fmt.Sprintf("job %q: there are no jobs here", prefix)
	}
	near := nearest.Of(prefix, ids, 3)
	if len(near) == 0 {
		return fmt.Sprintf("job %q: no such job; kubectl kinetic jobs list shows the %d there are", prefix, len(ids))
	}
	return fmt.Sprintf("job %q: no such job; the nearest: %s", prefix, strings.Join(near, ", "))
}

// some joins at most n words and counts the others.
func some(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], ", "), len(words)-n)
}
