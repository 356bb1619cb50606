package records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// aMap are the results of a map of so many inputs.
func aMap(t *testing.T, inputs int, results map[int]string) MapResults {
	t.Helper()
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := MapResults{Store: s, JobID: "m1", Inputs: inputs}
	for input, text := range results {
		put(t, r, store.ResultOf(r.JobID, input), text)
	}
	return r
}

// The runner keeps more beside the results of a map than those.
func TestTheMarksOfTriesAreNoResults(t *testing.T) {
	r := aMap(t, 2, map[int]string{0: value("1")})
	for _, name := range []string{"0.try", "1.try", "1.pkl", "1-2.pkl"} {
		put(t, r, store.Results("m1")+name, "")
	}
	if got := inputsWithResult(t, r); !slices.Equal(got, []int{0}) {
		t.Errorf("got results of %v, want that of input 0 alone", got)
	}
	if p, err := r.Progress(t.Context()); err != nil || p.Done != 1 {
		t.Errorf("got %+v, %v, want 1 done", p, err)
	}
}

// inputsWithResult are those of a map, in the order of their names.
func inputsWithResult(t *testing.T, r MapResults) (inputs []int) {
	t.Helper()
	for r, err := range r.list(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, r.input)
	}
	return inputs
}

func put(t *testing.T, r MapResults, name, text string) {
	t.Helper()
	if err := r.Store.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
		t.Fatal(err)
	}
}

func value(text string) string { return `{"version":1,"ok":true,"value":` + text + `}` }

const failure = `{"version":1,"ok":false,"error":{"type":"ValueError","message":"no"}}`

// over is a channel that says that the job has ended.
func over() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestGather(t *testing.T) {
	bad := FailedInput{1, api.ResultError{Type: "ValueError", Message: "no"}}
	tests := map[string]struct {
		inputs  int
		results map[int]string
		lines   string
		outcome MapOutcome
	}{
		"all":             {3, map[int]string{0: value("1"), 1: value(`{"a": [1, 2]}`), 2: value("1.50")}, "1\n{\"a\":[1,2]}\n1.50\n", MapOutcome{}},
		"one failed":      {3, map[int]string{0: value("1"), 1: failure, 2: value("3")}, "1\nnull\n3\n", MapOutcome{Failed: []FailedInput{bad}}},
		"some missing":    {4, map[int]string{1: failure, 3: value("3")}, "null\nnull\nnull\n3\n", MapOutcome{Failed: []FailedInput{bad}, Missing: []int{0, 2}}},
		"a pickle":        {1, map[int]string{0: `{"version":1,"ok":true,"value":[null],"pickle":"results/0.pkl"}`}, "[null]\n", MapOutcome{Pickled: 1}},
		"not exact":       {2, map[int]string{0: `{"version":1,"ok":true,"value":[1],"differs":true,"pickled":"YQ=="}`, 1: value("2")}, "[1]\n2\n", MapOutcome{Differing: 1}},
		"without a value": {1, map[int]string{0: `{"version":1,"ok":true}`}, "null\n", MapOutcome{}},
		"without a why": {1, map[int]string{0: `{"version":1,"ok":false}`}, "null\n",
			MapOutcome{Failed: []FailedInput{{0, api.ResultError{Message: "its result doesn't say why"}}}}},
		"results of no input": {1, map[int]string{0: value("1"), 1: value("2"), 7: value("3")}, "1\n", MapOutcome{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := aMap(t, tt.inputs, tt.results)
			var lines bytes.Buffer
			got, err := r.Gather(t.Context(), over(), &lines, func(MapProgress) {})
			if err != nil || lines.String() != tt.lines {
				t.Errorf("got %q, %v; want %q", lines.String(), err, tt.lines)
			}
			if diff := cmp.Diff(tt.outcome, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got.Complete() != (len(tt.outcome.Failed)+len(tt.outcome.Missing) == 0) {
				t.Errorf("complete: %v", got.Complete())
			}
		})
	}
}

// More than are read at a time come in their order, too, and all are counted.
func TestGatherMany(t *testing.T) {
	const inputs = 2*batch + 1
	results, want := map[int]string{}, ""
	for i := range inputs {
		results[i] = value(fmt.Sprint(i))
		want += fmt.Sprintln(i)
	}
	var lines bytes.Buffer
	var last MapProgress
	_, err := aMap(t, inputs, results).Gather(t.Context(), over(), &lines, func(p MapProgress) { last = p })
	if err != nil || lines.String() != want || last != (MapProgress{Done: inputs, Total: inputs}) {
		t.Errorf("%v, %+v:\n%s", err, last, lines.String())
	}
}

// Results are read before their turn, as far as there is room; the next line has it
// always.
func TestGatherAhead(t *testing.T) {
	large := `"` + strings.Repeat("x", heldBytes/2) + `"`
	r := aMap(t, 5, map[int]string{1: value(large), 2: value(large), 3: failure, 4: value("4")})
	var lines bytes.Buffer
	m := r.gathering(&lines, func(MapProgress) {})
	step := func(held ...int) {
		t.Helper()
		if _, err := m.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := m.advance(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(held, slices.Sorted(maps.Keys(m.held)), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("held: -want +got:\n%s", diff)
		}
	}
	step(1)
	put(t, r, store.ResultOf(r.JobID, 0), value(large+"    "))
	step()
	if want := large + "\n" + large + "\n" + large + "\nnull\n4\n"; lines.String() != want {
		t.Errorf("wrote %d bytes, want %d", lines.Len(), len(want))
	}
	if m.bytes != 0 || m.progress != (MapProgress{Done: 5, Failed: 1, Total: 5}) {
		t.Errorf("%d bytes held in the end, %+v", m.bytes, m.progress)
	}
}

// What is there is written while the rest is computed, and what comes behind a gap
// waits for it.
func TestGatherStreams(t *testing.T) {
	r := aMap(t, 3, map[int]string{0: value("0"), 2: value("2")})
	lines, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := r.Gather(t.Context(), nil, w, func(MapProgress) {})
		_ = w.CloseWithError(err)
		done <- err
	}()
	first := make([]byte, 2)
	if _, err := io.ReadFull(lines, first); err != nil || string(first) != "0\n" {
		t.Fatalf("got %q, %v", first, err)
	}
	put(t, r, store.ResultOf(r.JobID, 1), value("1"))
	rest, err := io.ReadAll(lines)
	if err = errors.Join(err, <-done); err != nil || string(rest) != "1\n2\n" {
		t.Errorf("got %q, %v", rest, err)
	}
}

func TestGatherWhatIsGone(t *testing.T) {
	var lines bytes.Buffer
	if _, err := aMap(t, 2, nil).Gather(t.Context(), over(), &lines, func(MapProgress) {}); !errors.Is(err, store.ErrNotFound) || lines.Len() > 0 {
		t.Errorf("got %q, %v", lines.String(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := aMap(t, 2, map[int]string{0: value("1")}).Gather(ctx, nil, io.Discard, func(MapProgress) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A map takes over what another has computed, and nothing that failed or has a pickle.
func TestInherit(t *testing.T) {
	old := aMap(t, 4, map[int]string{0: value("1"), 1: failure, 2: `{"version":1,"ok":true,"value":null,"pickle":"results/2.pkl"}`, 3: value("4")})
	r := aMap(t, 4, map[int]string{3: value("4")}) // of a try that was cut off
	r.JobID = "m2"
	put(t, r, store.ResultOf("m2", 3), value("4"))
	values, err := old.Values(t.Context())
	if diff := cmp.Diff([]int{0, 3}, values); err != nil || diff != "" {
		t.Fatalf("%v, -want +got:\n%s", err, diff)
	}
	if err := r.Inherit(t.Context(), old, values); err != nil {
		t.Fatal(err)
	}
	if got := inputsWithResult(t, r); !slices.Equal(got, []int{0, 3}) {
		t.Errorf("got results of %v, want those of 0 and 3", got)
	}
	if got, err := r.Read(t.Context(), 0); err != nil || string(got.Value) != "1" {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := r.Inherit(t.Context(), old, []int{0, 2, 17}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of what was removed meanwhile: %v", err)
	}
}

func TestProgress(t *testing.T) {
	for want, results := range map[MapProgress]map[int]string{
		{Total: 4}: nil, {Done: 2, Failed: 1, Total: 4}: {1: value("1"), 2: failure},
	} {
		if got, err := aMap(t, 4, results).Progress(t.Context()); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

// bucket is a store that keeps metadata.
type bucket struct {
	store.Store
	mu       sync.Mutex
	metadata map[string]map[string]string
}

func (b *bucket) Create(ctx context.Context, name string, r io.Reader, metadata map[string]string) error {
	b.mu.Lock()
	b.metadata[name] = metadata
	b.mu.Unlock()
	return b.Store.Create(ctx, name, r, nil)
}

func (b *bucket) List(ctx context.Context, prefix, start string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		for o, err := range b.Store.List(ctx, prefix, start) {
			o.Metadata = b.metadata[o.Name]
			if !yield(o, err) {
				return
			}
		}
	}
}

// How far a map is, and what of it can be taken over, a bucket says without a value
// being read. What was taken over says it, too.
func TestVerdictsOfAListing(t *testing.T) {
	r := aMap(t, 5, nil)
	r.Store = &bucket{Store: r.Store, metadata: map[string]map[string]string{}}
	for input, v := range map[int]api.Verdict{0: {OK: true}, 1: {}, 2: {OK: true, Pickled: true}, 4: {OK: true}} {
		if err := r.Store.Create(t.Context(), store.ResultOf("m1", input), strings.NewReader("nobody can read this"), v.Metadata()); err != nil {
			t.Fatal(err)
		}
	}
	progress := func(r MapResults, want MapProgress) {
		t.Helper()
		if got, err := r.Progress(t.Context()); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	progress(r, MapProgress{Done: 4, Failed: 1, Total: 5})
	values, err := r.Values(t.Context())
	if diff := cmp.Diff([]int{0, 4}, values); err != nil || diff != "" {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	next := MapResults{Store: r.Store, JobID: "m2", Inputs: 5}
	if err := next.Inherit(t.Context(), r, values); err != nil {
		t.Fatal(err)
	}
	progress(next, MapProgress{Done: 2, Total: 5})
}

// However many results are read, those in memory have heldBytes at most. One that is
// larger has it for itself.
func TestReadResultsHaveRoom(t *testing.T) {
	for size, want := range map[int64]int64{1: 20, heldBytes / 4: 4, heldBytes * 2: 1} {
		synctest.Test(t, func(t *testing.T) {
			const results = 20
			list := func(yield func(stored, error) bool) {
				for input := range results {
					if !yield(stored{input, store.Object{Size: size}}, nil) {
						return
					}
				}
			}
			var reading atomic.Int64
			var most int64
			step, done := make(chan bool), make(chan error, 1)
			go func() {
				done <- eachRead(t.Context(), list, func(context.Context, int) error {
					reading.Add(1)
					<-step
					reading.Add(-1)
					return nil
				})
			}()
			for range results {
				synctest.Wait()
				most = max(most, reading.Load())
				step <- true
			}
			if err := <-done; err != nil || most != want {
				t.Errorf("%d bytes each: %v, %d read at a time, want %d", size, err, most, want)
			}
		})
	}
}
