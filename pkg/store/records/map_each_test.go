package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// consumer takes results that it knows to be ready.
type consumer struct {
	unready map[int]bool
	over    []bool
	taken   []int
	fails   error
	later   map[int]bool // not taken before the end
	refuses int          // the input whose result is made a failure; 0 for none
}

func (c *consumer) Look(_ context.Context, over bool) error {
	c.over = append(c.over, over)
	if over {
		c.unready = nil
	}
	return nil
}

func (c *consumer) Ready(input int) bool { return !c.unready[input] }

func (c *consumer) Take(_ context.Context, input int, r api.Result) (api.Result, error) {
	if c.later[input] && c.unready != nil {
		c.unready[input] = true
		return r, ErrNotYet
	}
	c.taken = append(c.taken, input)
	if input == c.refuses && input > 0 {
		r = api.Result{Error: &api.ResultError{Type: "No", Message: "never"}}
	}
	return r, c.fails
}

func TestEach(t *testing.T) {
	bad := FailedInput{1, api.ResultError{Type: "ValueError", Message: "no"}}
	many := map[int]string{}
	for i := range 2*batch + 1 {
		many[i] = value(fmt.Sprint(i))
	}
	for name, tt := range map[string]struct {
		inputs  int
		results map[int]string
		taken   []int
		outcome MapOutcome
	}{
		"all":          {2, map[int]string{0: value("1"), 1: value("2")}, []int{0, 1}, MapOutcome{}},
		"some missing": {4, map[int]string{1: failure, 3: `{"version":1,"ok":true,"pickle":"results/3.pkl","differs":true}`}, []int{1, 3}, MapOutcome{Failed: []FailedInput{bad}, Missing: []int{0, 2}}},
		"many":         {2*batch + 1, many, nil, MapOutcome{}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &consumer{}
			var last MapProgress
			got, err := aMap(t, tt.inputs, tt.results).Each(t.Context(), over(), c, func(p MapProgress) { last = p })
			if err != nil || last.Done != len(tt.results) || len(c.taken) != len(tt.results) || tt.taken != nil && !slices.Equal(c.taken, tt.taken) {
				t.Errorf("took %v, %+v, %v", c.taken, last, err)
			}
			if diff := cmp.Diff(tt.outcome, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A result that is not ready waits, and does not hold up those after it.
func TestEachOutOfOrder(t *testing.T) {
	c, ended := &consumer{unready: map[int]bool{0: true}}, make(chan struct{})
	_, err := aMap(t, 3, map[int]string{0: value("1"), 1: value("2"), 2: value("3")}).Each(t.Context(), ended, c, func(p MapProgress) {
		if len(c.taken) == 2 && ended != nil {
			select {
			case <-ended:
			default:
				close(ended)
			}
		}
	})
	if err != nil || !slices.Equal(c.taken, []int{1, 2, 0}) || !slices.Equal(c.over, []bool{false, true}) {
		t.Errorf("took %v, over %v, %v", c.taken, c.over, err)
	}
}

// A result that is not taken at first is passed again, and one that the consumer refuses has failed.
func TestEachRefused(t *testing.T) {
	c := &consumer{later: map[int]bool{0: true}, refuses: 1}
	running := make(chan struct{})
	c.unready = map[int]bool{}
	var last MapProgress
	got, err := aMap(t, 2, map[int]string{0: failure, 1: value("1")}).Each(t.Context(), running, c, func(p MapProgress) {
		if last = p; len(c.taken) == 1 && c.unready != nil && c.unready[0] {
			select {
			case <-running:
			default:
				close(running)
			}
		}
	})
	want := MapOutcome{Failed: []FailedInput{{0, api.ResultError{Type: "ValueError", Message: "no"}}, {1, api.ResultError{Type: "No", Message: "never"}}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" || !slices.Equal(c.taken, []int{1, 0}) || last.Failed != 2 {
		t.Errorf("%v, took %v, %+v; -want +got:\n%s", err, c.taken, last, diff)
	}
}

func TestEachOfNothing(t *testing.T) {
	if _, err := aMap(t, 1, nil).Each(t.Context(), over(), &consumer{}, func(MapProgress) {}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	full := errors.New("full")
	if _, err := aMap(t, 1, map[int]string{0: value("1")}).Each(t.Context(), over(), &consumer{fails: full}, func(MapProgress) {}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := aMap(t, 1, nil).Each(ctx, make(chan struct{}), &consumer{}, func(MapProgress) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRemove(t *testing.T) {
	r := aMap(t, 1, map[int]string{0: value("1")})
	for _, name := range []string{"0.pkl", "0.hashes", "0-2.hashes", "mine.txt"} {
		put(t, r, store.Results(r.JobID)+name, "x")
	}
	if err := r.Remove(t.Context(), true, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	for o, err := range r.Store.List(t.Context(), store.Results(r.JobID), "") {
		if err != nil || o.Name != store.Results(r.JobID)+"mine.txt" {
			t.Errorf("left %s, %v", o.Name, err)
		}
	}
}
