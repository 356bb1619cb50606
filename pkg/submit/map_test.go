package submit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/call"
)

func TestSpread(t *testing.T) {
	tests := map[string]struct {
		inputs, chunk, parallelism int
		want                       api.Map
		only                       []api.Range
	}{
		"one of many":             {inputs: 40, only: []api.Range{{First: 7, Last: 7}}, want: api.Map{Chunk: 1, Parallelism: 1}},
		"some of many":            {inputs: 100, only: []api.Range{{First: 0, Last: 19}, {First: 80, Last: 99}}, want: api.Map{Chunk: 3, Parallelism: 14}},
		"one input":               {inputs: 1, want: api.Map{Chunk: 1, Parallelism: 1}},
		"a few":                   {inputs: 40, want: api.Map{Chunk: 3, Parallelism: 14}},
		"a thousand":              {inputs: 1000, want: api.Map{Chunk: 63, Parallelism: 16}},
		"many":                    {inputs: 1_000_000, want: api.Map{Chunk: 1000, Parallelism: 16}},
		"more at a time":          {inputs: 1000, parallelism: 100, want: api.Map{Chunk: 10, Parallelism: 100}},
		"one pod for all":         {inputs: 1000, chunk: 1000, want: api.Map{Chunk: 1000, Parallelism: 1}},
		"a chunk larger than all": {inputs: 3, chunk: 10, parallelism: 5, want: api.Map{Chunk: 10, Parallelism: 1}},
		"as many as there can be": {inputs: 100_000, chunk: 1, want: api.Map{Chunk: 1, Parallelism: 16}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := spread(api.Request{Map: "in", Chunk: tt.chunk, Parallelism: tt.parallelism}, inputs{Inputs: call.Inputs{SHA256: "in", Count: tt.inputs}}, tt.only)
			tt.want.Inputs, tt.want.InputsSHA256, tt.want.Only = tt.inputs, "in", tt.only
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// What counts is how many inputs are computed.
func TestCheckChunks(t *testing.T) {
	first := func(n int) []api.Range { return []api.Range{{First: 0, Last: n - 1}} }
	for name, tt := range map[string]struct {
		m    *api.Map
		id   string
		want string
	}{
		"no map":    {nil, "", ""},
		"a long ID": {&api.Map{Inputs: 10_000, Chunk: 1}, strings.Repeat("a", 50), ""},
		"too long an ID": {&api.Map{Inputs: 10_001, Chunk: 1}, strings.Repeat("a", 50),
			"--job-id " + strings.Repeat("a", 50) + ": in a map with more than 10000 chunks, an ID can have at most 49 characters, not 50: use a shorter one, or larger chunks with --chunk"},
		"an ID that has room": {&api.Map{Inputs: 100_000, Chunk: 1}, strings.Repeat("a", 49), ""},
		"larger chunks":       {&api.Map{Inputs: 10_001, Chunk: 2}, strings.Repeat("a", 50), ""},
		"as many as can be":   {&api.Map{Inputs: 100_000, Chunk: 1}, "", ""},
		"one more":            {&api.Map{Inputs: 100_001, Chunk: 1}, "", "--chunk 1: that makes 100001 chunks of 100001 inputs, but a job can have at most 100000: use 2 or more"},
		"few of them missing": {&api.Map{Inputs: 300_000, Only: first(100_000), Chunk: 1}, "", ""},
		"many missing":        {&api.Map{Inputs: 300_000, Only: first(150_000), Chunk: 1}, "", "--chunk 1: that makes 150000 chunks of 150000 inputs, but a job can have at most 100000: use 2 or more"},
	} {
		if err := checkChunks(tt.m, tt.id); (err != nil) != (tt.want != "") || err != nil && err.Error() != tt.want {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestLocalMapsAreOneChunk(t *testing.T) {
	r := api.Request{Map: "in", Chunk: 2, Parallelism: 3, Placement: api.Placement{Backend: api.BackendLocal}}
	m := spread(r, inputs{Inputs: call.Inputs{Count: 5}}, nil)
	if m.Chunk != 5 || m.Parallelism != 1 || m.Chunks() != 1 {
		t.Errorf("got %+v, want one chunk of 5 inputs", m)
	}
}

func TestValidateMap(t *testing.T) {
	for want, r := range map[string]api.Request{
		"":                             {Map: "in", Chunk: 2, Placement: api.Placement{Backend: api.BackendGKE, Hosts: 1}},
		"--chunk requires --map":       {Chunk: 2},
		"--parallelism requires --map": {Parallelism: 2},
		"--backend lws":                {Map: "in", Placement: api.Placement{Backend: api.BackendLWS}},
		"--hosts or --slices":          {Map: "in", Placement: api.Placement{Hosts: 2}},
		"makes each call":              {Map: "in", Placement: api.Placement{Slices: 2}},
		"--debug":                      {Map: "in", Execution: api.Execution{Debug: true}},
	} {
		if err := validateMap(r); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", r, err, want)
		}
	}
}

func TestMissingInputs(t *testing.T) {
	for name, tt := range map[string]struct {
		values []int
		inputs int
		want   []api.Range
	}{
		"none has a value": {nil, 3, []api.Range{{First: 0, Last: 2}}},
		"the last":         {[]int{0, 1}, 3, []api.Range{{First: 2, Last: 2}}},
		"here and there":   {[]int{1, 2, 5}, 8, []api.Range{{First: 0, Last: 0}, {First: 3, Last: 4}, {First: 6, Last: 7}}},
	} {
		if diff := cmp.Diff(tt.want, coarse(between(tt.values, tt.inputs))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// How many pods a map that is resumed has is not decided with its plan.
func TestPlanOfAResumedMap(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"f.py": "def f(n):\n    pass\n", "in": strings.Repeat("12345678901234567890\n", 100_001)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := api.Request{Invocation: api.Invocation{Target: "f.py:f"}, Map: "in", Chunk: 1, Placement: api.Placement{Image: "i", Backend: api.BackendGKE}}
	m := Machine{Cwd: dir, CacheDir: t.TempDir()}
	for resume, want := range map[string]string{"": "that makes 100001 chunks", "m1": "<nil>"} {
		r.MapResume = resume
		p, err := Plan(t.Context(), typed(t, r), config.Target{Namespace: "ml", Store: "gs://b"}, m, FixedIdentity())
		if !strings.Contains(fmt.Sprint(err), want) || strings.Contains(fmt.Sprint(p.Warnings), "reads the whole file") {
			t.Errorf("--map-resume %q: %v, want %s; warnings %q", resume, err, want, p.Warnings)
		}
	}
}

// Kubernetes refuses a job whose last pod's name, NAME-INDEX, is no DNS label.
func TestMapsHaveRoomForTheNumbersOfTheirPods(t *testing.T) {
	dir, long := t.TempDir(), strings.Repeat("f", 40)
	for name, text := range map[string]string{"f.py": "def " + long + "(n):\n    pass\n", "in": strings.Repeat("1\n", 10_001)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		chunk int
		from  string
		want  int // the length of the ID
	}{
		"10,001 chunks":                {1, "", 49},
		"fewer":                        {2, "", 50},
		"as many as are still missing": {2, "m1", 49},
	} {
		r := api.Request{Invocation: api.Invocation{Target: "f.py:" + long}, Map: "in", Chunk: tt.chunk, MapResume: tt.from, Placement: api.Placement{Image: "i", Backend: api.BackendGKE}}
		p, err := Plan(t.Context(), typed(t, r), config.Target{Namespace: "ml", Store: "gs://b"}, Machine{Cwd: dir, CacheDir: t.TempDir()}, FixedIdentity())
		if err != nil {
			t.Fatal(err)
		}
		pod := fmt.Sprintf("%s-%d", p.Spec.JobName(), p.Spec.Map.Chunks()-1)
		if why := validation.IsDNS1123Label(pod); len(p.Spec.ID) != tt.want || why != nil {
			t.Errorf("%s: the ID %s has %d characters, want %d; its last pod is %s: %q", name, p.Spec.ID, len(p.Spec.ID), tt.want, pod, why)
		}
	}
}

func TestRereadWarnings(t *testing.T) {
	for name, tt := range map[string]struct {
		m    api.Map
		size int64
		want string
	}{
		"small inputs in many pods":  {api.Map{Inputs: 100_000, Chunk: 1}, 1 << 20, ""},
		"large inputs in a few pods": {api.Map{Inputs: 100_000, Chunk: 1000}, 256 << 20, ""},
		"large inputs in many pods": {api.Map{Inputs: 100_000, Chunk: 10}, 256 << 20,
			"the map's 10000 pods each read the whole input file (2500 GiB in total): use fewer pods with --chunk 250"},
		"a fifth of them missing": {api.Map{Inputs: 500_000, Only: []api.Range{{First: 0, Last: 99_999}}, Chunk: 10}, 256 << 20,
			"the map's 10000 pods each read the whole input file (2500 GiB in total): use fewer pods with --chunk 250"},
	} {
		if got := strings.Join(rereadWarnings(&tt.m, tt.size), "\n"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		tt.m.Chunk = 250
		if got := rereadWarnings(&tt.m, tt.size); got != nil {
			t.Errorf("%s, in larger chunks: %q", name, got)
		}
	}
}

func TestReadInputs(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("1\n2\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := Machine{Cwd: dir, Stdin: strings.NewReader("1\n2\n")}
	for file, want := range map[string]string{
		"in":   "--map in:3: empty line: every line must be a JSON value",
		"none": "--map none: no such file or directory",
	} {
		if _, err := readInputs(api.Request{Map: file}, m); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
	const lines = "{\"x\":1}\n2\n"
	if err := os.WriteFile(filepath.Join(dir, "good"), []byte("{\"x\": 1}\n2"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Stdin = strings.NewReader("{\"x\": 1}\n2")
	for _, file := range []string{"-", "good"} {
		in, err := readInputs(api.Request{Map: file}, m)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // an upload may begin again
			r, err := in.open()
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err := errors.Join(err, r.Close()); err != nil || string(got) != lines {
				t.Errorf("%s: %q, %v, want %q", file, got, err, lines)
			}
		}
		if in.Count != 2 || in.SHA256 != sha256Hex([]byte(lines)) || in.Size != int64(len(lines)) {
			t.Errorf("%s: %+v", file, in.Inputs)
		}
	}
}
