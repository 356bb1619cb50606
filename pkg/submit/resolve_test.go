package submit

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/call"
)

// A plan waits for what the older map says, and takes the values that it has.
func TestResolve(t *testing.T) {
	for name, tt := range map[string]struct {
		resume   string
		state    api.State
		values   int
		complete bool
		mistake  string // "" for no error
	}{
		"no older map":       {},
		"one that is gone":   {resume: "nope", mistake: "--map-resume: "},
		"one that runs":      {resume: "m1", state: api.Running, mistake: "--map-resume m1: that job is still running"},
		"some of its values": {resume: "m1", state: api.Failed, values: 1},
		"all of its values":  {resume: "m1", state: api.Failed, values: 2, complete: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := api.Map{InputsSHA256: "in", Inputs: 2, Chunk: 1, Parallelism: 1}
			at := registry(t, workload{start: well, ready: well})
			at.Backend = jobtest.Backend{State: tt.state}
			handle, err := json.Marshal(api.Handle{Version: api.HandleVersion, JobID: "m1", Backend: api.BackendGKE, CallSHA256: "call", Map: &m})
			if err != nil {
				t.Fatal(err)
			}
			write(t, at, store.Handle("m1"), string(handle))
			for input := range tt.values {
				result := strings.NewReader(`{"version":1,"ok":true,"value":1}`)
				if err := at.Store.Create(t.Context(), store.ResultOf("m1", input), result, api.Verdict{OK: true}.Metadata()); err != nil {
					t.Fatal(err)
				}
			}
			p := Planned{request: api.Request{Map: "in", MapResume: tt.resume}, inputs: inputs{Inputs: call.Inputs{SHA256: "in", Count: 2, Size: 4}}}
			p.Spec.CallSHA256, p.Spec.Map = "call", &m
			p, err = Resolve(t.Context(), p, at)
			if mistake := new(InputError); tt.mistake != "" {
				if !errors.As(err, &mistake) || !strings.HasPrefix(err.Error(), tt.mistake) {
					t.Errorf("got %v, want an InputError %q", err, tt.mistake)
				}
				return
			}
			if err != nil || len(p.Inherits) != tt.values || p.Complete() != tt.complete {
				t.Errorf("got %v, %d values taken over, complete: %v", err, len(p.Inherits), p.Complete())
			}
			if !tt.complete && p.Spec.Map.Computed() != 2-tt.values {
				t.Errorf("%d inputs are computed", p.Spec.Map.Computed())
			}
		})
	}
}

// Nobody vouches for pickles that are taken over from a bucket.
func TestResolveOfPickles(t *testing.T) {
	for url, want := range map[string]int{"gs://b": 0, "file:///s": 1} {
		m := api.Map{InputsSHA256: "in", Inputs: 2, Chunk: 1, Parallelism: 1}
		at := registry(t, workload{start: well, ready: well})
		at.Backend = jobtest.Backend{State: api.Failed}
		handle, err := json.Marshal(api.Handle{Version: api.HandleVersion, JobID: "m1", Backend: api.BackendGKE, CallSHA256: "call", Map: &m})
		if err != nil {
			t.Fatal(err)
		}
		write(t, at, store.Handle("m1"), string(handle))
		if err := at.Store.Create(t.Context(), store.ResultOf("m1", 0), strings.NewReader(`{"version":1,"ok":true,"pickled":"TjA="}`), api.Verdict{OK: true}.Metadata()); err != nil {
			t.Fatal(err)
		}
		at.Store = named{at.Store, url}
		p := Planned{request: api.Request{Map: "in", MapResume: "m1"}, inputs: inputs{Inputs: call.Inputs{SHA256: "in", Count: 2, Size: 4}}}
		p.Spec.CallSHA256, p.Spec.Map, p.Spec.CallKind = "call", &m, api.CallPickle
		p, err = Resolve(t.Context(), p, at)
		if err != nil || len(p.Inherits) != want || p.Spec.Map.Computed() != 2-want || len(p.Warnings) != 1-want {
			t.Errorf("%s: %d values taken over, %d computed, warnings %q, %v", url, len(p.Inherits), p.Spec.Map.Computed(), p.Warnings, err)
		}
	}
}

// named is a store with another URL.
type named struct {
	store.Store
	url string
}

func (n named) URL() string { return n.url }

// What was asked for is divided again: a chunk of one's own choice stays.
func TestResume(t *testing.T) {
	values := make([]int, 39)
	for i := range values {
		values[i] = i
	}
	for chunk, want := range map[int]api.Map{0: {Chunk: 1}, 10: {Chunk: 10}} {
		p := Planned{request: api.Request{Map: "in", Chunk: chunk}, inputs: inputs{Inputs: call.Inputs{SHA256: "in", Count: 40, Size: 80}}}
		p.Spec.Map = &api.Map{InputsSHA256: "in", Inputs: 40, Chunk: 3, Parallelism: 14}
		old := &job.Job{}
		p, err := p.resume(old, values)
		if err != nil || p.Warnings != nil || p.From != old || len(p.Inherits) != 39 || p.Complete() {
			t.Errorf("%v, %q, takes over %d values", err, p.Warnings, len(p.Inherits))
		}
		want.InputsSHA256, want.Inputs, want.Inherited, want.Parallelism, want.Only = "in", 40, 39, 1, []api.Range{{First: 39, Last: 39}}
		if diff := cmp.Diff(&want, p.Spec.Map); diff != "" {
			t.Errorf("--chunk %d: -want +got:\n%s", chunk, diff)
		}
	}
}

// A map that is resumed may have too many pods for a job, or for the size of its inputs.
func TestResumeWithManyPods(t *testing.T) {
	p := Planned{request: api.Request{Map: "in", Chunk: 1}, inputs: inputs{Inputs: call.Inputs{Count: 100_002, Size: 256 << 20}}}
	p.Spec.Map = &api.Map{Inputs: 100_002, Chunk: 1}
	if _, err := p.resume(&job.Job{}, []int{0}); err == nil || !strings.Contains(err.Error(), "that makes 100001 chunks") {
		t.Errorf("got %v", err)
	}
	p, err := p.resume(&job.Job{}, []int{0, 1, 2})
	if err != nil || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "99999 pods") {
		t.Errorf("got %q, %v", p.Warnings, err)
	}
}

func TestCheckResume(t *testing.T) {
	m := api.Map{InputsSHA256: "in", Inputs: 2, Chunk: 1}
	p := Planned{Spec: api.Spec{CallSHA256: "call", Map: &m}}
	other := m
	other.Chunk = 2 // how they are spread is no matter
	for want, old := range map[string]api.Handle{
		"":                              {CallSHA256: "call", Map: &other},
		"that job is not a map":         {CallSHA256: "call"},
		"other inputs (3 instead of 2)": {CallSHA256: "call", Map: &api.Map{InputsSHA256: "more", Inputs: 3}},
		"that job (f) has a different":  {FuncName: "f", CallSHA256: "other", Map: &m},
	} {
		if err := p.checkResume(old); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", old, err, want)
		}
	}
}

// However many ranges there are, a command line has room for what they become, and
// none of them is lost.
func TestManyMissingInputs(t *testing.T) {
	var values []int
	for i := range 30_000 {
		if i%3 != 0 || i < 3000 {
			values = append(values, i)
		}
	}
	got := coarse(between(values, 30_000))
	if len(got) > maxRanges {
		t.Errorf("%d ranges, want at most %d", len(got), maxRanges)
	}
	missing := api.Map{Inputs: 30_000, Chunk: 1, Only: got}
	for i := 3000; i < 30_000; i += 3 {
		if _, computed := missing.ChunkOf(i); !computed {
			t.Fatalf("nobody computes input %d", i)
		}
	}
	if _, computed := missing.ChunkOf(0); computed {
		t.Error("what is far from all that is missing is in a chunk, too")
	}
}

// What lies between the closest is in a chunk, too, and no more.
func TestCoarse(t *testing.T) {
	var one, eighth []api.Range
	for i := range 1250 {
		one = append(one, api.Range{First: 9 * i * i, Last: 9*i*i + 1})
		eighth = append(eighth, api.Range{First: 8 * i, Last: 8 * i})
	}
	for name, tt := range map[string]struct {
		ranges      []api.Range
		n, computed int
	}{
		"no more than there can be": {one[:maxRanges], maxRanges, 2 * maxRanges},
		"one more":                  {one[:maxRanges+1], maxRanges, 2*maxRanges + 2 + 7},
		"every eighth":              {eighth, maxRanges, 1250 + 250*7},
	} {
		got := coarse(tt.ranges)
		if computed := (api.Map{Only: got}).Computed(); len(got) != tt.n || computed != tt.computed {
			t.Errorf("%s: %d inputs in %d ranges, want %d in %d", name, computed, len(got), tt.computed, tt.n)
		}
	}
}

// Inputs that are computed again begin with the outputs that they left before.
func TestOutputsOfAResumedMap(t *testing.T) {
	for name, tt := range map[string]struct {
		url  string
		now  api.Execution
		then api.Handle
		want bool
	}{
		"their own place in the store": {url: "gs://b", want: true},
		"another store":                {url: "gs://other"},
		"a directory, which has them":  {url: "gs://b", now: api.Execution{OutputDir: "gs://team/out"}},
		"a directory before":           {url: "gs://b", then: api.Handle{OutputDir: "gs://team/out"}},
		"a mounted place":              {url: "gs://b", now: api.Execution{OutputMount: true}},
	} {
		p := Planned{Spec: api.Spec{Store: "gs://b", Execution: tt.now}}
		if got := p.sharesOutputs(&job.Job{Handle: tt.then, Store: named{nil, tt.url}}); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
