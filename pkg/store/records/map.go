package records

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
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// MapResults are the results of one map.
type MapResults struct {
	Store store.Store
	JobID string
	// Inputs is how many inputs the map has.
	Inputs int
	// Line, if set, returns what Gather writes about an input instead of its value, without a line end. It is called
	// for each input in their order. The result is nil if there is none.
	Line func(input int, r *api.Result) ([]byte, error)
}

// MapProgress counts the inputs of a map.
type MapProgress struct {
	// Done is how many inputs have a result.
	Done int `json:"done"`
	// Failed is how many of the results are known to be failures.
	Failed int `json:"failed"`
	// Total is how many inputs there are.
	Total int `json:"total"`
}

// MapOutcome lists the inputs of a map that have no value.
type MapOutcome struct {
	// Failed are the inputs whose call failed, in order.
	Failed []FailedInput
	// Missing are the inputs without a result, in order: the job
	// ended before these were stored.
	Missing []int
	// Pickled is how many values only a pickle represents exactly.
	Pickled int
	// Differing is how many values were delivered as JSON that is not exact.
	Differing int
}

// Complete reports whether every input has a value.
func (o MapOutcome) Complete() bool { return len(o.Failed)+len(o.Missing) == 0 }

// FailedInput is an input, counted from 0, and why its call failed.
type FailedInput struct {
	Input int
	Error api.ResultError
}

// Read reads the result of one input. The error is store.ErrNotFound if there is none yet, or
// if it was deleted.
func (r MapResults) Read(ctx context.Context, input int) (api.Result, error) {
	return Read[api.Result](ctx, r.Store, store.ResultOf(r.JobID, input))
}

// stored is the object that has the result of an input.
type stored struct {
	input int
	store.Object
}

// list yields the results in order of their names. Unless start is empty, it begins with the
// first name that does not sort before start.
func (r MapResults) list(ctx context.Context, start string) iter.Seq2[stored, error] {
	return func(yield func(stored, error) bool) {
		for o, err := range r.Store.List(ctx, store.Results(r.JobID), start) {
			if err != nil {
				yield(stored{}, err)
				return
			}
			if input, isResult := r.inputOf(o.Name); isResult && !yield(stored{input, o}, nil) {
				return
			}
		}
	}
}

// inputOf returns the input whose result has this name.
func (r MapResults) inputOf(name string) (input int, isResult bool) {
	input, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, store.Results(r.JobID)), ".json"))
	return input, err == nil && input >= 0 && name == store.ResultOf(r.JobID, input)
}

// Exist reports whether there are any results.
func (r MapResults) Exist(ctx context.Context) (bool, error) {
	for _, err := range r.list(ctx, "") {
		return err == nil, err
	}
	return false, nil
}

// verdicts calls note for each input that has a result, one at a time, in any order. A
// bucket's listing contains the verdicts. In a store without metadata, the results are read.
func (r MapResults) verdicts(ctx context.Context, note func(input int, v api.Verdict)) error {
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
		case errors.Is(err, store.ErrNotFound): // it was just deleted
			return nil
		case err == nil:
			locked(input, result.Verdict())
		}
		return err
	})
}

// Progress counts the results.
func (r MapResults) Progress(ctx context.Context) (MapProgress, error) {
	p := MapProgress{Total: r.Inputs}
	err := r.verdicts(ctx, func(_ int, v api.Verdict) { p.count(v) })
	return p, err
}

func (p *MapProgress) count(v api.Verdict) {
	p.Done++
	if !v.OK {
		p.Failed++
	}
}

// Remove removes the results, with all also their pickles and what else the pods left beside them. It calls seen after each object.
func (r MapResults) Remove(ctx context.Context, all bool, seen func(done, total int)) error {
	var names []string
	for o, err := range r.Store.List(ctx, store.Results(r.JobID), "") {
		if err != nil {
			return err
		}
		if _, isResult := r.inputOf(o.Name); isResult || all && store.IsRecord(r.JobID, o.Name) {
			names = append(names, o.Name)
		}
	}
	return store.DeleteAll(ctx, r.Store, names, seen)
}

// Values returns the inputs, in order, whose values another map can take over: those that
// JSON represents exactly.
func (r MapResults) Values(ctx context.Context) ([]int, error) {
	var inputs []int
	err := r.verdicts(ctx, func(input int, v api.Verdict) {
		if v.OK && !v.Pickled {
			inputs = append(inputs, input)
		}
	})
	slices.Sort(inputs)
	return inputs, err
}

// Inherit copies the values of some inputs from an older map of the same inputs, so that
// the pods of this map skip them.
func (r MapResults) Inherit(ctx context.Context, old MapResults, inputs []int) error {
	g, copying := errgroup.WithContext(ctx)
	g.SetLimit(store.Parallel)
	for _, input := range inputs {
		if copying.Err() != nil {
			break
		}
		g.Go(func() error {
			err := store.Copy(copying, r.Store, store.ResultOf(r.JobID, input), old.Store, store.ResultOf(old.JobID, input), api.Verdict{OK: true}.Metadata())
			if errors.Is(err, store.ErrExists) { // by an earlier attempt at this submit
				return nil
			}
			return err
		})
	}
	return cmp.Or(g.Wait(), ctx.Err())
}

// eachRead calls do to read each of the results, several at a time. Those in memory have at
// most heldBytes in total, unless it is a single one.
func eachRead(ctx context.Context, results iter.Seq2[stored, error], do func(context.Context, int) error) error {
	room := semaphore.NewWeighted(heldBytes)
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(store.Parallel)
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
