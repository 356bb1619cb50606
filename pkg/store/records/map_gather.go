package records

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const (
	// listEvery is how often the store is asked for new results. Where an answer takes long,
	// the pause is listShare times as long.
	listEvery = time.Second
	listShare = 4
	// heldBytes limits the results in memory that wait for earlier ones.
	heldBytes = 32 << 20
	// manyKnown is how many known results in a row, a page of a bucket's listing, justify
	// another request that skips the known results after them.
	manyKnown = 1000
	// batch is how many results are read before the next lines are written.
	batch = 16 * store.Parallel
)

// Gather writes the values of all inputs in order, each as a line of JSON as soon as all
// earlier ones are written; null for an input that failed. It returns when all are written.
// Once ended is closed it waits for no more results, and writes null for those that are
// missing. It calls seen for progress. The error is store.ErrNotFound if the map has ended
// without any result.
func (r MapResults) Gather(ctx context.Context, ended <-chan struct{}, w io.Writer, seen func(MapProgress)) (MapOutcome, error) {
	m := r.gathering(w, seen)
	err := m.follow(ctx, ended, func(bool) error { return nil }, func(over bool) (bool, error) {
		err := m.advance(ctx, over)
		return m.next == r.Inputs, err
	})
	return m.outcome, err
}

// follow lists new results and calls take for them, until that returns true. Each time before it lists, it calls before.
// over says that no more results come. The error is store.ErrNotFound if there is none then.
func (m *gathering) follow(ctx context.Context, ended <-chan struct{}, before func(over bool) error, take func(over bool) (enough bool, err error)) error {
	for {
		over := closed(ended)
		if err := before(over); err != nil {
			return err
		}
		took, err := m.look(ctx)
		if err != nil {
			return err
		}
		if over && m.progress.Done == 0 {
			return fmt.Errorf("%s/%s: %w", m.results.Store.URL(), store.Results(m.results.JobID), store.ErrNotFound)
		}
		if enough, err := take(over); enough || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
		case <-time.After(max(listEvery, listShare*took)):
		}
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// gathering is the state of one Gather. Results are read as they appear, in any order, so
// that little is left to read when the last pod is done.
type gathering struct {
	results  MapResults
	w        *bufio.Writer
	seen     func(MapProgress)
	sizes    []int64            // the size of each result, 0 if there is none yet
	held     map[int]api.Result // those read but not yet written
	bytes    int64              // the size of held
	next     int                // the first input that is not written
	progress MapProgress
	outcome  MapOutcome
}

func (r MapResults) gathering(w io.Writer, seen func(MapProgress)) *gathering {
	return &gathering{results: r, w: bufio.NewWriter(w), seen: seen, sizes: make([]int64, r.Inputs), held: map[int]api.Result{}}
}

// look lists new results, and returns how long that took.
func (m *gathering) look(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	for input := m.unknown(0); input >= 0; {
		var err error
		if input, err = m.lookFrom(ctx, input); err != nil {
			return 0, err
		}
	}
	m.tell()
	return time.Since(began), nil
}

// lookFrom lists results, beginning with that of an input. After many known results it stops
// and returns the input to begin with next; -1 at the end.
func (m *gathering) lookFrom(ctx context.Context, first int) (next int, err error) {
	known := 0
	for r, err := range m.results.list(ctx, store.ResultOf(m.results.JobID, first)) {
		switch {
		case err != nil:
			return -1, err
		case r.input >= len(m.sizes):
		case m.sizes[r.input] == 0:
			m.sizes[r.input] = r.Size
			m.progress.Done++
			known = 0
		default:
			if known++; known == manyKnown {
				return m.unknown(r.input), nil
			}
		}
	}
	return -1, nil
}

// unknown returns the first input without a known result, in order of names, that does not
// come before the given one; -1 if there is none.
func (m *gathering) unknown(input int) int {
	for input >= 0 && m.sizes[input] > 0 {
		input = nextByName(input, len(m.sizes))
	}
	return input
}

// nextByName returns the input whose name sorts next, of total inputs: 1, 10, 100, 101, …,
// 11, 110. It returns -1 after the last.
func nextByName(input, total int) int {
	if input > 0 && input*10 < total {
		return input * 10
	}
	for input%10 == 9 || input+1 >= total {
		if input /= 10; input == 0 {
			return -1
		}
	}
	return input + 1
}

func (m *gathering) tell() {
	m.progress.Total = len(m.sizes)
	m.seen(m.progress)
}

// advance writes the values up to the first missing result and, once the job is over, all
// others. It also reads some of the results after a missing one.
func (m *gathering) advance(ctx context.Context, over bool) error {
	for {
		if err := m.write(over); err != nil {
			return err
		}
		inputs := m.pick()
		if len(inputs) == 0 {
			return m.w.Flush()
		}
		if err := m.read(ctx, inputs); err != nil {
			return err
		}
		m.tell()
	}
}

func (m *gathering) write(over bool) error {
	for m.next < len(m.sizes) {
		r, read := m.held[m.next]
		there := m.sizes[m.next] > 0
		if there && !read || !there && !over {
			break
		}
		if err := m.line(m.next, r); err != nil {
			return err
		}
		delete(m.held, m.next)
		m.bytes -= m.sizes[m.next]
		m.next++
	}
	return nil
}

// pick chooses what to read: the next result whatever its size, and later ones while there
// is room.
func (m *gathering) pick() []int {
	var inputs []int
	room := heldBytes - m.bytes
	for i := m.next; i < len(m.sizes) && len(inputs) < batch; i++ {
		if _, read := m.held[i]; read || m.sizes[i] == 0 {
			continue
		}
		if room -= m.sizes[i]; room < 0 && i > m.next {
			break
		}
		inputs = append(inputs, i)
	}
	return inputs
}

func (m *gathering) read(ctx context.Context, inputs []int) error {
	results := make([]api.Result, len(inputs))
	err := store.Each(ctx, inputs, func(ctx context.Context, i, input int) (err error) {
		results[i], err = m.results.Read(ctx, input)
		return err
	})
	if err != nil {
		return err
	}
	for i, input := range inputs {
		m.held[input] = results[i]
		m.bytes += m.sizes[input]
		if !results[i].OK {
			m.progress.Failed++
		}
	}
	return nil
}

// line writes the value of an input, null if it has none.
func (m *gathering) line(input int, r api.Result) error {
	there := m.sizes[input] > 0
	m.outcome.note(input, there, r)
	if m.results.Line != nil {
		return m.lineOf(input, there, r)
	}
	value := r.Value
	if len(value) == 0 {
		value = json.RawMessage("null")
	}
	var line bytes.Buffer
	if err := json.Compact(&line, value); err != nil {
		return fmt.Errorf("reading %s/%s: %w", m.results.Store.URL(), store.ResultOf(m.results.JobID, input), err)
	}
	line.WriteByte('\n')
	_, err := m.w.Write(line.Bytes())
	return err
}

func (m *gathering) lineOf(input int, there bool, r api.Result) error {
	result := &r
	if !there {
		result = nil
	}
	line, err := m.results.Line(input, result)
	if err != nil {
		return err
	}
	_, err = m.w.Write(append(line, '\n'))
	return err
}

// note adds an input to the outcome if it has no value, and counts pickles and values that are not exact.
func (o *MapOutcome) note(input int, there bool, r api.Result) {
	switch {
	case !there:
		o.Missing = append(o.Missing, input)
	case !r.OK && r.Error == nil:
		o.Failed = append(o.Failed, FailedInput{input, api.ResultError{Message: "its result doesn't say why"}})
	case !r.OK:
		o.Failed = append(o.Failed, FailedInput{input, *r.Error})
	}
	if there && r.Pickle != nil {
		o.Pickled++
	}
	if there && r.Differs {
		o.Differing++
	}
}
