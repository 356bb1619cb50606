package prune

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Outputs are the outputs of a job that was cleaned up without them, and the records that its runner kept.
type Outputs struct {
	ID      string `json:"id"`
	URL     string `json:"url"`
	Objects int    `json:"objects"`
	Bytes   int64  `json:"bytes"`

	objects []store.Object
}

// findOutputs looks at all directories of jobs.
func (p *Plan) findOutputs(ctx context.Context) error {
	ids, err := p.store.Dirs(ctx, "")
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(store.Parallel)
	var mu sync.Mutex
	for _, id := range ids {
		if store.CheckID(id) != nil { // it can't be a job
			continue
		}
		g.Go(func() error {
			found, err := outputsOf(ctx, p.store, id)
			if err != nil || found.Objects == 0 {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			p.Outputs = append(p.Outputs, found)
			p.Objects += found.Objects
			p.Bytes += found.Bytes
			return nil
		})
	}
	err = g.Wait()
	slices.SortFunc(p.Outputs, func(a, b Outputs) int { return cmp.Compare(a.ID, b.ID) })
	return err
}

// outputsOf returns the outputs of a job that was cleaned up. Without a handle, an ID that a program
// made, or an object that a runner has written, shows that there was a job.
func outputsOf(ctx context.Context, s store.Store, id string) (Outputs, error) {
	found := Outputs{ID: id, URL: s.URL() + "/" + store.Outputs(id)}
	ours := store.IsMadeID(id)
	for o, err := range s.List(ctx, id+"/", "") {
		if err != nil || o.Name == store.Handle(id) {
			return Outputs{}, err
		}
		if !strings.HasPrefix(o.Name, store.Outputs(id)) && !store.IsSync(id, o.Name) {
			continue
		}
		found.Objects++
		found.Bytes += o.Size
		found.objects = append(found.objects, o)
		ours = ours || store.WrittenBy(o) == id
	}
	if !ours {
		return Outputs{}, nil
	}
	return found, nil
}
