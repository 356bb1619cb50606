package records

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// MapStates are the states of the inputs of a map.
type MapStates struct {
	MapProgress
	// Runs are the states in the order of the inputs, with one item for neighbours in the same
	// state.
	Runs []InputRange `json:"states"`
}

// InputRange is a run of consecutive inputs in the same state.
type InputRange struct {
	State api.State `json:"state"`
	// Count is how many inputs these are.
	Count int `json:"count"`
}

// States returns the states of all inputs. An input that has a result is SUCCEEDED or FAILED.
// Call rest for that of each other input.
func (r MapResults) States(ctx context.Context, rest func(input int) api.State) (MapStates, error) {
	s := MapStates{MapProgress: MapProgress{Total: r.Inputs}}
	known := make(map[int]bool)
	if err := r.verdicts(ctx, func(input int, v api.Verdict) {
		known[input] = v.OK
		s.count(v)
	}); err != nil {
		return s, err
	}
	for input := range r.Inputs {
		ok, done := known[input]
		switch {
		case !done:
			s.add(rest(input))
		case ok:
			s.add(api.Succeeded)
		default:
			s.add(api.Failed)
		}
	}
	return s, nil
}

func (s *MapStates) add(state api.State) {
	if last := len(s.Runs) - 1; last >= 0 && s.Runs[last].State == state {
		s.Runs[last].Count++
		return
	}
	s.Runs = append(s.Runs, InputRange{state, 1})
}

// Begun returns the chunks that a pod has started to compute.
func (r MapResults) Begun(ctx context.Context) (map[int]bool, error) {
	begun, prefix := map[int]bool{}, store.Attempts(r.JobID)
	for o, err := range r.Store.List(ctx, prefix, "") {
		if err != nil {
			return nil, fmt.Errorf("listing the attempts of job %s: %w", r.JobID, err)
		}
		number, _, _ := strings.Cut(strings.TrimPrefix(o.Name, prefix), "-")
		if chunk, err := strconv.Atoi(number); err == nil {
			begun[chunk] = true
		}
	}
	return begun, nil
}
