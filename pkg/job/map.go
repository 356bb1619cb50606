package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const (
	// mapReaders is how many results of a map are moved at a time.
	mapReaders = 64
	// listEvery is how often the store is asked for new results; it is asked less
	// often where that takes long, so that most of the time goes by between.
	listEvery = time.Second
	listShare = 4
)

// Progress is how far a map is.
type Progress struct {
	// Done are the inputs that have a result, Failed those of them known to have
	// failed, of Total.
	Done, Failed, Total int
}

// MapOutcome is what came of the inputs of a map that have no value.
type MapOutcome struct {
	// Failed are those whose call failed, in order.
	Failed []FailedInput
	// Missing are those without a result, in order: their pods failed, or were
	// removed, before they came to them.
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

// MapResults writes the value of each input of a map, in their order and as soon as
// all before it are there: a line of JSON each, null for an input that failed. It
// returns when all are written or, once ended is closed, it is known which will
// never come. seen hears how far it is. A map that has ended without any result is
// ErrNotFound.
func (j *Job) MapResults(ctx context.Context, ended <-chan struct{}, w io.Writer, seen func(Progress)) (MapOutcome, error) {
	m := &mapping{job: j, total: j.Handle.Map.Inputs, w: w, seen: seen}
	m.there = make([]bool, m.total)
	for {
		over := closed(ended)
		began := time.Now()
		if err := m.look(ctx); err != nil {
			return m.outcome, err
		}
		if over && m.count == 0 {
			return m.outcome, fmt.Errorf("%s/%s: %w", j.Store.URL(), store.Results(j.ID()), store.ErrNotFound)
		}
		if err := m.advance(ctx, over); err != nil || m.next == m.total {
			return m.outcome, err
		}
		select {
		case <-ctx.Done():
			return m.outcome, ctx.Err()
		case <-ended:
		case <-time.After(max(listEvery, listShare*time.Since(began))):
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

// mapping is what has come of a map.
type mapping struct {
	job     *Job
	w       io.Writer
	seen    func(Progress)
	total   int
	there   []bool // which inputs have a result
	count   int    // of them
	next    int    // the first that is not written
	outcome MapOutcome
}

// look finds out which results are there.
func (m *mapping) look(ctx context.Context) error {
	objects, err := m.job.results(ctx)
	if err != nil {
		return err
	}
	for _, input := range objects {
		if input < m.total && !m.there[input] {
			m.there[input] = true
			m.count++
		}
	}
	m.tell()
	return nil
}

func (m *mapping) tell() {
	m.seen(Progress{Done: m.count, Failed: len(m.outcome.Failed), Total: m.total})
}

// advance writes what there is up to the first gap and, once the job is over,
// beyond it.
func (m *mapping) advance(ctx context.Context, over bool) error {
	for m.next < m.total && (over || m.there[m.next]) {
		end := m.next
		for end < m.total && end < m.next+mapReaders && (over || m.there[end]) {
			end++
		}
		if err := m.write(ctx, m.next, end); err != nil {
			return err
		}
		m.next = end
		m.tell()
	}
	return nil
}

// write reads some results at the same time and writes them in order.
func (m *mapping) write(ctx context.Context, from, to int) error {
	results := make([]api.Result, to-from)
	g, gctx := errgroup.WithContext(ctx)
	for i := range results {
		if !m.there[from+i] {
			continue
		}
		g.Go(func() (err error) {
			results[i], err = m.job.Indexed(gctx, from+i)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var lines bytes.Buffer
	for i, r := range results {
		if err := json.Compact(&lines, m.valueOf(from+i, r)); err != nil {
			return fmt.Errorf("reading %s/%s: %w", m.job.Store.URL(), store.ResultOf(m.job.ID(), from+i), err)
		}
		lines.WriteByte('\n')
	}
	_, err := m.w.Write(lines.Bytes())
	return err
}

// valueOf is the JSON of an input's value, null where it has none; then it is noted
// why.
func (m *mapping) valueOf(input int, r api.Result) json.RawMessage {
	switch {
	case !m.there[input]:
		m.outcome.Missing = append(m.outcome.Missing, input)
	case !r.OK && r.Error == nil:
		m.outcome.Failed = append(m.outcome.Failed, FailedInput{input, api.ResultError{Message: "its result doesn't tell why"}})
	case !r.OK:
		m.outcome.Failed = append(m.outcome.Failed, FailedInput{input, *r.Error})
	}
	if m.there[input] && r.Pickle != nil {
		m.outcome.Pickled++
	}
	if len(r.Value) > 0 {
		return r.Value
	}
	return json.RawMessage("null")
}

// results lists the inputs that have a result.
func (j *Job) results(ctx context.Context) ([]int, error) {
	prefix := store.Results(j.ID())
	objects, err := j.Store.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	inputs := make([]int, 0, len(objects))
	for _, o := range objects {
		input, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(o.Name, prefix), ".json"))
		if err == nil && o.Name == store.ResultOf(j.ID(), input) {
			inputs = append(inputs, input)
		}
	}
	return inputs, nil
}

// ReleaseMap removes what a map no longer needs of which all results were collected:
// its workload, the call and the results.
func (j *Job) ReleaseMap(ctx context.Context) error {
	if err := j.stop(ctx, 0, nil); err != nil {
		return err
	}
	if err := j.Store.Delete(ctx, store.Call(j.ID())); err != nil {
		return err
	}
	return j.RemoveResults(ctx)
}

// RemoveResults removes the results of a map.
func (j *Job) RemoveResults(ctx context.Context) error {
	return j.eachResult(ctx, func(ctx context.Context, input int) error {
		return j.Store.Delete(ctx, store.ResultOf(j.ID(), input))
	})
}

// Inherit copies the values that another map of the same inputs has, so that the
// pods of this one skip what has one.
func (j *Job) Inherit(ctx context.Context, old *Job) error {
	return old.eachResult(ctx, func(ctx context.Context, input int) error {
		data, err := readObject(ctx, old.Store, store.ResultOf(old.ID(), input))
		if err != nil {
			return err
		}
		var r api.Result
		if err := json.Unmarshal(data, &r); err != nil || !r.OK || r.Pickle != nil {
			return nil // it is computed again
		}
		err = j.Store.Create(ctx, store.ResultOf(j.ID(), input), bytes.NewReader(data), nil)
		if errors.Is(err, store.ErrExists) {
			return nil // of an earlier try of this submit
		}
		return err
	})
}

// eachResult calls do for each input that has a result, some at the same time.
func (j *Job) eachResult(ctx context.Context, do func(context.Context, int) error) error {
	inputs, err := j.results(ctx)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(mapReaders)
	for _, input := range inputs {
		g.Go(func() error { return do(ctx, input) })
	}
	return g.Wait()
}
