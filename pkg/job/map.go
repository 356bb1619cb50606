package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// mapReaders is how many results of a map are moved at a time.
const mapReaders = 64

// Progress is how far a map is.
type Progress struct {
	// Done are the inputs that have a result, Failed those of them known to have
	// failed, of Total.
	Done   int `json:"done"`
	Failed int `json:"failed"`
	Total  int `json:"total"`
}

// MapOutcome is what came of the inputs of a map that have no value.
type MapOutcome struct {
	// Failed are those whose call failed, in order.
	Failed []FailedInput
	// Missing are those without a result, in order: their pods failed, or were
	// removed, before there was one.
	Missing []int
	// Pickled are those whose exact value only a pickle has.
	Pickled int
}

// Complete reports whether every input has a value.
func (o MapOutcome) Complete() bool { return len(o.Failed)+len(o.Missing) == 0 }

// FailedInput is an input, counted from 0, and why its call failed.
type FailedInput struct {
	Input int
	Error api.ResultError
}

// Indexed reads the result of one input of a map. ErrNotFound where there is none
// yet, or any more.
func (j *Job) Indexed(ctx context.Context, input int) (api.Result, error) {
	return records.Read[api.Result](ctx, j.Store, store.ResultOf(j.ID(), input))
}

// mapResult is the stored result of one input of a map.
type mapResult struct {
	input int
	store.Object
}

// results yields the results of a map in the order of their names; start leaves out
// those before one.
func (j *Job) results(ctx context.Context, start string) iter.Seq2[mapResult, error] {
	return func(yield func(mapResult, error) bool) {
		prefix := store.Results(j.ID())
		for o, err := range j.Store.List(ctx, prefix, start) {
			if err != nil {
				yield(mapResult{}, err)
				return
			}
			input, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(o.Name, prefix), ".json"))
			if err == nil && o.Name == store.ResultOf(j.ID(), input) && !yield(mapResult{input, o}, nil) {
				return
			}
		}
	}
}

// verdicts calls note with what came of each input that has a result, in no order, one
// at a time. A bucket's listing says so; of a store that keeps no metadata the results
// are read.
func (j *Job) verdicts(ctx context.Context, note func(input int, v api.Verdict)) error {
	var mu sync.Mutex
	locked := func(input int, v api.Verdict) {
		mu.Lock()
		defer mu.Unlock()
		note(input, v)
	}
	unlisted := func(yield func(mapResult, error) bool) {
		for r, err := range j.results(ctx, "") {
			if v, listed := api.VerdictOf(r.Metadata); listed {
				locked(r.input, v)
			} else if !yield(r, err) {
				return
			}
		}
	}
	return eachRead(ctx, unlisted, func(ctx context.Context, input int) error {
		r, err := optional(j.Indexed(ctx, input))
		if err == nil && r != nil { // else it was deleted meanwhile
			locked(input, r.Verdict())
		}
		return err
	})
}

// Progress finds out how far a map is; nil for another job, and for a map of which all
// values were deleted.
func (j *Job) Progress(ctx context.Context) (*Progress, error) {
	if j.Handle.Map == nil {
		return nil, nil
	}
	p := Progress{Total: j.Handle.Map.Inputs}
	err := j.verdicts(ctx, func(_ int, v api.Verdict) {
		p.Done++
		if !v.OK {
			p.Failed++
		}
	})
	if err != nil {
		return nil, fmt.Errorf("reading the results of job %s: %w", j.ID(), err)
	}
	if p.Done == 0 {
		if deleted, err := j.ValuesDeleted(ctx); deleted || err != nil {
			return nil, err
		}
	}
	return &p, nil
}

// RemoveResults removes the results of a map. seen hears how many are gone.
func (j *Job) RemoveResults(ctx context.Context, seen func(done, total int)) error {
	var names []string
	for r, err := range j.results(ctx, "") {
		if err != nil {
			return err
		}
		names = append(names, r.Name)
	}
	return j.remove(ctx, names, seen)
}

// Values lists the inputs, in order, whose values another map can take over: those
// that JSON carries exactly.
func (j *Job) Values(ctx context.Context) ([]int, error) {
	var inputs []int
	err := j.verdicts(ctx, func(input int, v api.Verdict) {
		if v.OK && !v.Pickled {
			inputs = append(inputs, input)
		}
	})
	slices.Sort(inputs)
	return inputs, err
}

// Inherit copies the values of these inputs from another map of the same ones, so
// that the pods of this one skip them.
func (j *Job) Inherit(ctx context.Context, old *Job, inputs []int) error {
	g, copying := errgroup.WithContext(ctx)
	g.SetLimit(mapReaders)
	for _, input := range inputs {
		if copying.Err() != nil {
			break
		}
		g.Go(func() error {
			err := store.Copy(copying, j.Store, store.ResultOf(j.ID(), input), old.Store, store.ResultOf(old.ID(), input), api.Verdict{OK: true}.Metadata())
			if errors.Is(err, store.ErrExists) { // of an earlier try of this submit
				return nil
			}
			return err
		})
	}
	return cmp.Or(g.Wait(), ctx.Err())
}

// ValuesDeleted reports whether all results of a map that succeeded were deleted.
func (j *Job) ValuesDeleted(ctx context.Context) (bool, error) {
	end, err := optional(j.end(ctx))
	if err != nil || end == nil || end.State != api.Succeeded {
		return false, err
	}
	for _, err := range j.results(ctx, "") {
		return false, err
	}
	return true, nil
}

// eachRead calls do for each of these results, for some at the same time, to read
// them: those in memory together have heldBytes at most, or are a single one.
func eachRead(ctx context.Context, results iter.Seq2[mapResult, error], do func(context.Context, int) error) error {
	room := semaphore.NewWeighted(heldBytes)
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(mapReaders)
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
