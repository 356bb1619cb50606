package records

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// ErrNotYet is the error of a Consumer that takes a result later.
var ErrNotYet = errors.New("the result is taken later")

// Consumer takes the results of a map one by one.
type Consumer interface {
	// Look is called before new results are taken. over says that the map has ended.
	Look(ctx context.Context, over bool) error
	// Ready reports whether the result of an input may be taken now. Once the map has ended,
	// that must be so.
	Ready(input int) bool
	// Take takes a result, and returns what counts as the result. If the error is ErrNotYet, the
	// input is not ready from then on, and passed again when it is.
	Take(ctx context.Context, input int, r api.Result) (api.Result, error)
}

// Each passes every result to c as it appears, in any order, and returns once all were passed,
// or once ended is closed and those that exist were. It calls seen for progress. The error is
// store.ErrNotFound if the map has ended without any result.
func (r MapResults) Each(ctx context.Context, ended <-chan struct{}, c Consumer, seen func(MapProgress)) (MapOutcome, error) {
	e := &passing{gathering: r.gathering(nil, seen), consumer: c, passed: make([]bool, r.Inputs)}
	err := e.follow(ctx, ended, func(over bool) error { return c.Look(ctx, over) }, func(over bool) (bool, error) {
		err := e.pass(ctx)
		return over || e.next == r.Inputs, err
	})
	if err != nil {
		return e.outcome, err
	}
	return e.end(), nil
}

// passing is the state of one Each. Nothing waits in memory for earlier results.
type passing struct {
	*gathering
	consumer Consumer
	passed   []bool
}

func (e *passing) pass(ctx context.Context) error {
	for {
		inputs := e.choose()
		if len(inputs) == 0 {
			return nil
		}
		if err := e.read(ctx, inputs); err != nil {
			return err
		}
		for _, input := range inputs {
			r := e.held[input]
			delete(e.held, input)
			e.bytes -= e.sizes[input]
			if err := e.passOne(ctx, input, r); err != nil {
				return err
			}
		}
		e.tell()
	}
}

func (e *passing) passOne(ctx context.Context, input int, r api.Result) error {
	if !r.OK {
		e.progress.Failed-- // counted below
	}
	r, err := e.consumer.Take(ctx, input, r)
	if errors.Is(err, ErrNotYet) {
		return nil
	}
	if err != nil {
		return err
	}
	if !r.OK {
		e.progress.Failed++
	}
	r.Pickle, r.Differs = nil, false // it is not beside the value, but the value
	e.outcome.note(input, true, r)
	e.passed[input] = true
	e.next++
	return nil
}

// choose chooses what to read, as far as there is room: one result whatever its size.
func (e *passing) choose() []int {
	var inputs []int
	room := int64(heldBytes)
	for i, size := range e.sizes {
		if size == 0 || e.passed[i] || !e.consumer.Ready(i) {
			continue
		}
		if room -= size; room < 0 && len(inputs) > 0 || len(inputs) == batch {
			break
		}
		inputs = append(inputs, i)
	}
	return inputs
}

// end returns the outcome of a map that has ended.
func (e *passing) end() MapOutcome {
	for i, passed := range e.passed {
		if !passed {
			e.outcome.note(i, false, api.Result{})
		}
	}
	slices.SortFunc(e.outcome.Failed, func(a, b FailedInput) int { return a.Input - b.Input })
	return e.outcome
}
