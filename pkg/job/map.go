package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
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

// Complete tells whether every input has a value.
func (o MapOutcome) Complete() bool { return len(o.Failed)+len(o.Missing) == 0 }

// FailedInput is an input, counted from 0, and why its call failed.
type FailedInput struct {
	Input int
	Error api.ResultError
}

// Indexed reads the result of one input of a map. ErrNotFound where there is none
// yet, or any more.
func (j *Job) Indexed(ctx context.Context, input int) (api.Result, error) {
	return readJSON[api.Result](ctx, j.Store, store.ResultOf(j.ID(), input))
}

// results lists the inputs that have a result.
func (j *Job) results(ctx context.Context) (map[int]store.Object, error) {
	prefix := store.Results(j.ID())
	objects, err := j.Store.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	results := make(map[int]store.Object, len(objects))
	for _, o := range objects {
		input, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(o.Name, prefix), ".json"))
		if err == nil && o.Name == store.ResultOf(j.ID(), input) {
			results[input] = o
		}
	}
	return results, nil
}

// verdicts tells of each input that has a result what came of it. A bucket's listing
// says so; of a store that keeps no metadata the results are read.
func (j *Job) verdicts(ctx context.Context) (map[int]api.Verdict, error) {
	results, err := j.results(ctx)
	if err != nil {
		return nil, err
	}
	verdicts := make(map[int]api.Verdict, len(results))
	var untold []int
	for input, o := range results {
		if v, told := api.VerdictOf(o.Metadata); told {
			verdicts[input] = v
		} else {
			untold = append(untold, input)
		}
	}
	var mu sync.Mutex
	err = eachRead(ctx, slices.Values(untold), results, func(ctx context.Context, input int) error {
		r, err := optional(j.Indexed(ctx, input))
		if err != nil || r == nil { // it was deleted meanwhile
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		verdicts[input] = r.Verdict()
		return nil
	})
	return verdicts, err
}

// Progress finds out how far a map is; nil for another job, and for a map of which all
// values were deleted.
func (j *Job) Progress(ctx context.Context) (*Progress, error) {
	if j.Handle.Map == nil {
		return nil, nil
	}
	verdicts, err := j.verdicts(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the results of job %s: %w", j.ID(), err)
	}
	if len(verdicts) == 0 {
		if deleted, err := j.ValuesDeleted(ctx); deleted || err != nil {
			return nil, err
		}
	}
	p := Progress{Done: len(verdicts), Total: j.Handle.Map.Inputs}
	for _, v := range verdicts {
		if !v.OK {
			p.Failed++
		}
	}
	return &p, nil
}

// RemoveResults removes the results of a map. seen hears how many are gone.
func (j *Job) RemoveResults(ctx context.Context, seen func(done, total int)) error {
	results, err := j.results(ctx)
	if err != nil {
		return err
	}
	return j.remove(ctx, slices.Collect(maps.Values(results)), seen)
}

// Values lists the inputs, in order, whose values another map can take over: those
// that JSON carries exactly.
func (j *Job) Values(ctx context.Context) ([]int, error) {
	verdicts, err := j.verdicts(ctx)
	maps.DeleteFunc(verdicts, func(_ int, v api.Verdict) bool { return !v.OK || v.Pickled })
	return slices.Sorted(maps.Keys(verdicts)), err
}

// Inherit copies the values of these inputs from another map of the same ones, so
// that the pods of this one skip them.
func (j *Job) Inherit(ctx context.Context, old *Job, inputs []int) error {
	results, err := old.results(ctx)
	if err != nil {
		return err
	}
	return eachRead(ctx, slices.Values(inputs), results, func(ctx context.Context, input int) error {
		data, err := readObject(ctx, old.Store, store.ResultOf(old.ID(), input))
		if err != nil {
			return err
		}
		err = j.Store.Create(ctx, store.ResultOf(j.ID(), input), bytes.NewReader(data), api.Verdict{OK: true}.Metadata())
		if errors.Is(err, store.ErrExists) { // of an earlier try of this submit
			return nil
		}
		return err
	})
}

// ValuesDeleted reports whether all results of a map that succeeded were deleted.
func (j *Job) ValuesDeleted(ctx context.Context) (bool, error) {
	end, err := optional(j.end(ctx))
	if err != nil || end == nil || end.State != api.Succeeded {
		return false, err
	}
	results, err := j.results(ctx)
	return err == nil && len(results) == 0, err
}

// eachRead calls do for each of these inputs, for some at the same time, to read their
// results: those in memory together have heldBytes at most, or are a single one.
func eachRead(ctx context.Context, inputs iter.Seq[int], results map[int]store.Object, do func(context.Context, int) error) error {
	room := semaphore.NewWeighted(heldBytes)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(mapReaders)
	for input := range inputs {
		g.Go(func() error {
			size := min(results[input].Size, heldBytes)
			if err := room.Acquire(ctx, size); err != nil {
				return err
			}
			defer room.Release(size)
			return do(ctx, input)
		})
	}
	return g.Wait()
}
