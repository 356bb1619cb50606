package job

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// aMap is a map of so many inputs with some results.
func aMap(t *testing.T, inputs int, results map[int]string) *Job {
	t.Helper()
	j := &Job{Handle: api.Handle{JobID: "m1", Map: &api.Map{Inputs: inputs, Chunk: 10, Parallelism: 1}}, Store: storeWith(t, nil), Backend: steps{}}
	for input, text := range results {
		put(t, j, store.ResultOf(j.ID(), input), text)
	}
	return j
}

func put(t *testing.T, j *Job, name, text string) {
	t.Helper()
	if err := j.Store.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
		t.Fatal(err)
	}
}

func value(text string) string { return `{"version":1,"ok":true,"value":` + text + `}` }

const failure = `{"version":1,"ok":false,"error":{"type":"ValueError","message":"no"}}`

func TestProgress(t *testing.T) {
	ended := func(j *Job) *Job {
		put(t, j, store.End("m1"), `{"version":1,"state":"SUCCEEDED"}`)
		return j
	}
	for name, tt := range map[string]struct {
		j    *Job
		want *records.MapProgress
	}{
		"under way":     {aMap(t, 4, map[int]string{1: value("1"), 2: failure}), &records.MapProgress{Done: 2, Failed: 1, Total: 4}},
		"at its begin":  {aMap(t, 4, nil), &records.MapProgress{Total: 4}},
		"over":          {ended(aMap(t, 2, map[int]string{0: value("1"), 1: failure})), &records.MapProgress{Done: 2, Failed: 1, Total: 2}},
		"collected":     {ended(aMap(t, 4, nil)), nil},
		"no map at all": {&Job{Handle: api.Handle{JobID: "m1"}}, nil},
	} {
		got, err := tt.j.Progress(t.Context())
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got:\n%s", name, err, diff)
		}
	}
}

func TestStates(t *testing.T) {
	begun := func(chunks ...string) *Job {
		j := aMap(t, 40, map[int]string{0: value("1"), 2: failure, 12: value("1")})
		for _, chunk := range chunks {
			put(t, j, store.Attempts(j.ID())+chunk+"-1.json", `{}`)
		}
		return j
	}
	for name, tt := range map[string]struct {
		j      *Job
		status api.Status
		want   string
	}{
		"waiting":         {aMap(t, 4, nil), api.Status{State: api.Pending}, "4 PENDING"},
		"two chunks run":  {begun("0", "1"), api.Status{State: api.Running}, "1 SUCCEEDED, 1 RUNNING, 1 FAILED, 9 RUNNING, 1 SUCCEEDED, 7 RUNNING, 20 PENDING"},
		"over":            {begun("0"), api.Status{State: api.Succeeded}, "1 SUCCEEDED, 11 FAILED, 1 SUCCEEDED, 27 FAILED"},
		"failed":          {begun("0"), api.Status{State: api.Failed}, "1 SUCCEEDED, 11 FAILED, 1 SUCCEEDED, 27 FAILED"},
		"gone":            {begun("0"), api.Status{State: api.NotFound}, "1 SUCCEEDED, 1 NOT_FOUND, 1 FAILED, 9 NOT_FOUND, 1 SUCCEEDED, 27 NOT_FOUND"},
		"cancelled":       {begun("0"), api.Status{State: api.NotFound, Ended: "CANCELLED"}, "1 SUCCEEDED, 1 NOT_FOUND, 1 FAILED, 9 NOT_FOUND, 1 SUCCEEDED, 27 NOT_FOUND"},
		"collected":       {begun("0"), api.Status{State: api.NotFound, Ended: "FAILED"}, "1 SUCCEEDED, 11 FAILED, 1 SUCCEEDED, 27 FAILED"},
		"only some again": {&Job{Handle: api.Handle{JobID: "m1", Map: &api.Map{Inputs: 40, Chunk: 2, Only: []api.Range{{First: 30, Last: 33}}}}, Store: begun("1").Store}, api.Status{State: api.Running}, "1 SUCCEEDED, 1 PENDING, 1 FAILED, 9 PENDING, 1 SUCCEEDED, 19 PENDING, 2 RUNNING, 6 PENDING"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tt.j.States(t.Context(), tt.status)
			if err != nil {
				t.Fatal(err)
			}
			var runs []string
			for _, r := range got.Runs {
				runs = append(runs, fmt.Sprintf("%d %s", r.Count, r.State))
			}
			if text := strings.Join(runs, ", "); text != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
		})
	}
	over := aMap(t, 4, nil)
	put(t, over, store.End("m1"), `{"version":1,"state":"SUCCEEDED"}`)
	for name, j := range map[string]*Job{"its values were deleted": over, "no map": {Handle: api.Handle{JobID: "m1"}}} {
		if got, err := j.States(t.Context(), api.Status{State: api.Succeeded}); got != nil || err != nil {
			t.Errorf("%s: %v, %v, want nothing", name, got, err)
		}
	}
}

// Each chunk of a map has its own attempts.
func TestAttemptsOf(t *testing.T) {
	j := aMap(t, 200, nil)
	for name, text := range map[string]string{
		"1-2": `{"attempt":2,"host":1,"uid":"c"}`, "1-1": `{"attempt":1,"host":1,"uid":"b"}`, "11-1": `{"attempt":1,"host":11,"uid":"d"}`, "0-1": `{"attempt":1,"uid":"a"}`,
	} {
		put(t, j, store.Attempts(j.ID())+name+".json", text)
	}
	for host, want := range map[int]string{-1: "a b c d", 0: "a", 1: "b c", 11: "d", 2: ""} {
		attempts, err := j.archive().Attempts(t.Context(), host)
		var got []string
		for _, a := range attempts {
			got = append(got, a.UID)
		}
		if host < 0 {
			slices.Sort(got)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("of %d: %q, %v, want %q", host, got, err, want)
		}
		if begun, err := j.Begun(t.Context(), host); host >= 0 && (err != nil || begun != (want != "")) {
			t.Errorf("chunk %d has begun: %v, %v", host, begun, err)
		}
	}
}

// The last lines of one pod of a map don't say why the map failed.
func TestFailureOfAMapShowsNoLog(t *testing.T) {
	j := aMap(t, 2, nil)
	j.Backend = steps{{State: api.NotFound}}
	put(t, j, store.LogPart(j.ID(), 0, 1, 1), "2026-11-20T08:20:20.000000Z input 0\n")
	for _, m := range []*api.Map{j.Handle.Map, nil} {
		j.Handle.Map = m
		f, err := j.Failure(t.Context(), api.Status{State: api.Failed, Reason: api.Killed})
		if err != nil || (f.Printed == "") != (m != nil) {
			t.Errorf("map: %v: %+v, %v", m != nil, f, err)
		}
	}
}
