package job

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Values are read some at a time, in the order of the jobs; large ones only have their size.
func TestValues(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const result = `{"version":1,"ok":true,"pickle":null,"error":null,"value":%s}`
	write := func(id, text string) {
		if err := s.Create(t.Context(), store.Result(id), strings.NewReader(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	var entries []api.JobSummary
	for i := range valuesAtATime + 3 {
		id := fmt.Sprintf("job-%d", i)
		entries = append(entries, api.JobSummary{ID: id, State: api.Succeeded, Store: s.URL(), Status: api.Status{State: api.Succeeded}})
		write(id, fmt.Sprintf(result, fmt.Sprint(i)))
	}
	last := &entries[len(entries)-1]
	last.State, last.Status.State = api.Failed, api.Failed
	large, none := len(entries)-2, len(entries)-3
	entries[large].ID, entries[none].ID = "large-1", "none-1"
	write("large-1", fmt.Sprintf(result, `"`+strings.Repeat("x", maxValue)+`"`))
	var got []Value
	var calls []int
	err = Registry{Store: s}.Values(t.Context(), entries, func(some []api.JobSummary, values []Value) error {
		got, calls = append(got, values...), append(calls, len(some))
		return nil
	})
	if err != nil || fmt.Sprint(calls) != fmt.Sprint([]int{valuesAtATime, 3}) {
		t.Fatalf("%v, passed %v at a time", err, calls)
	}
	for i, v := range got {
		want := fmt.Sprint(i)
		if i >= none {
			want = ""
		}
		if string(v.JSON) != want || v.Err != nil || (v.Size > maxValue) != (i == large) {
			t.Errorf("of %s: %q, %d bytes, %v; want %q", entries[i].ID, v.JSON, v.Size, v.Err, want)
		}
	}
	full := errors.New("full")
	if err := (Registry{Store: s}).Values(t.Context(), entries, func([]api.JobSummary, []Value) error { return full }); !errors.Is(err, full) {
		t.Errorf("it did not stop: %v", err)
	}
}

// Some backends list a map like any other job.
func TestValuesOfAMap(t *testing.T) {
	j := aMap(t, 2, map[int]string{0: value("1"), 1: failure})
	put(t, j, store.Handle(j.ID()), `{"version":1,"job_id":"m1","map":{"inputs":2,"chunk":1}}`)
	entry := api.JobSummary{ID: j.ID(), State: api.Succeeded, Store: j.Store.URL(), Status: api.Status{State: api.Succeeded}}
	err := Registry{Store: j.Store}.Values(t.Context(), []api.JobSummary{entry}, func(_ []api.JobSummary, values []Value) error {
		if p := values[0].Inputs; p == nil || p.Done != 2 || p.Failed != 1 || values[0].Err != nil {
			t.Errorf("got %+v, %v", p, values[0].Err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
