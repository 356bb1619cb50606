// Package mapresults reads, copies and removes the results of a map: one document in the
// store for each input.
package mapresults

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/records"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// readers is how many results are read or copied at a time.
const readers = 64

// Results are those of one map.
type Results struct {
	Store store.Store
	JobID string
	// Inputs is how many inputs the map has.
	Inputs int
}

// Progress is how far a map is.
type Progress struct {
	// Done are the inputs that have a result, Failed those of them known to have
	// failed, of Total.
	Done   int `json:"done"`
	Failed int `json:"failed"`
	Total  int `json:"total"`
}

// Outcome is what came of the inputs of a map that have no value.
type Outcome struct {
	// Failed are those whose call failed, in order.
	Failed []FailedInput
	// Missing are those without a result, in order: their pods failed, or were
	// removed, before there was one.
	Missing []int
	// Pickled are those whose exact value only a pickle has.
	Pickled int
}

// Complete reports whether every input has a value.
func (o Outcome) Complete() bool { return len(o.Failed)+len(o.Missing) == 0 }

// FailedInput is an input, counted from 0, and why its call failed.
type FailedInput struct {
	Input int
	Error api.ResultError
}

// Read reads the result of one input. ErrNotFound where there is none yet, or any more.
func (r Results) Read(ctx context.Context, input int) (api.Result, error) {
	return records.Read[api.Result](ctx, r.Store, store.ResultOf(r.JobID, input))
}

// stored is the object of one input's result.
type stored struct {
	input int
	store.Object
}

// list yields the results in the order of their names; start leaves out those before one.
func (r Results) list(ctx context.Context, start string) iter.Seq2[stored, error] {
	return func(yield func(stored, error) bool) {
		prefix := store.Results(r.JobID)
		for o, err := range r.Store.List(ctx, prefix, start) {
			if err != nil {
				yield(stored{}, err)
				return
			}
			input, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(o.Name, prefix), ".json"))
			if err == nil && o.Name == store.ResultOf(r.JobID, input) && !yield(stored{input, o}, nil) {
				return
			}
		}
	}
}

// Exist reports whether there is any result.
func (r Results) Exist(ctx context.Context) (bool, error) {
	for _, err := range r.list(ctx, "") {
		return err == nil, err
	}
	return false, nil
}

// verdicts calls note with what came of each input that has a result, in no order, one
// at a time. A bucket's listing says so; of a store that keeps no metadata the results
// are read.
func (r Results) verdicts(ctx context.Context, note func(input int, v api.Verdict)) error {
	var mu sync.Mutex
	locked := func(input int, v api.Verdict) {
		mu.Lock()
		defer mu.Unlock()
		note(input, v)
	}
	unlisted := func(yield func(stored, error) bool) {
		for o, err := range r.list(ctx, "") {
			if v, listed := api.VerdictOf(o.Metadata); listed {
				locked(o.input, v)
			} else if !yield(o, err) {
				return
			}
		}
	}
	return eachRead(ctx, unlisted, func(ctx context.Context, input int) error {
		result, err := r.Read(ctx, input)
		switch {
		case errors.Is(err, store.ErrNotFound): // it was deleted meanwhile
			return nil
		case err == nil:
			locked(input, result.Verdict())
		}
		return err
	})
}

// Progress finds out how far the map is.
func (r Results) Progress(ctx context.Context) (Progress, error) {
	p := Progress{Total: r.Inputs}
	err := r.verdicts(ctx, func(_ int, v api.Verdict) {
		p.Done++
		if !v.OK {
			p.Failed++
		}
	})
	return p, err
}

// Remove removes the results. seen hears how many are gone.
func (r Results) Remove(ctx context.Context, seen func(done, total int)) error {
	var names []string
	for o, err := range r.list(ctx, "") {
		if err != nil {
			return err
		}
		names = append(names, o.Name)
	}
	return store.DeleteAll(ctx, r.Store, names, seen)
}

// Values lists the inputs, in order, whose values another map can take over: those
// that JSON carries exactly.
func (r Results) Values(ctx context.Context) ([]int, error) {
	var inputs []int
	err := r.verdicts(ctx, func(input int, v api.Verdict) {
		if v.OK && !v.Pickled {
			inputs = append(inputs, input)
		}
	})
	slices.Sort(inputs)
	return inputs, err
}

// Inherit copies the values of these inputs from another map of the same ones, so
// that the pods of this one skip them.
func (r Results) Inherit(ctx context.Context, old Results, inputs []int) error {
	g, copying := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for _, input := range inputs {
		if copying.Err() != nil {
			break
		}
		g.Go(func() error {
			err := store.Copy(copying, r.Store, store.ResultOf(r.JobID, input), old.Store, store.ResultOf(old.JobID, input), api.Verdict{OK: true}.Metadata())
			if errors.Is(err, store.ErrExists) { // of an earlier try of this submit
				return nil
			}
			return err
		})
	}
	return cmp.Or(g.Wait(), ctx.Err())
}

// eachRead calls do for each of these results, for some at the same time, to read
// them: those in memory together have heldBytes at most, or are a single one.
func eachRead(ctx context.Context, results iter.Seq2[stored, error], do func(context.Context, int) error) error {
	room := semaphore.NewWeighted(heldBytes)
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for r, err := range results {
		g.Go(func() error {
			if err != nil {
				return err
			}
			size := min(r.Size, heldBytes)
			if err := room.Acquire(reading, size); err != nil {
				return err
			}
			defer room.Release(size)
			return do(reading, r.input)
		})
		if reading.Err() != nil {
			break
		}
	}
	return cmp.Or(g.Wait(), ctx.Err())
}
