package render

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestMapArguments(t *testing.T) {
	m := api.Map{InputsSHA256: "ab", Inputs: 40, Chunk: 2, Parallelism: 1}
	const all = "--map ab --chunk 2 --inputs 40"
	for want, only := range map[string][]api.Range{all: nil, all + " --only 7-7,20-39": {{First: 7, Last: 7}, {First: 20, Last: 39}}} {
		m.Only = only
		if got := strings.Join(m.Arguments(), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestOutputArguments(t *testing.T) {
	for want, e := range map[string]api.Execution{
		"":                    {},
		"--output-dir /out":   {OutputDir: "/out"},
		"--output-sync 1.5":   {OutputSync: 1500 * time.Millisecond},
		"--output-sync 0":     {OutputSync: -1},
		"--resume-from job-b": {ResumeFrom: "job-b"},
	} {
		e.MaxDisruptions = api.DefaultMaxDisruptions
		args := strings.Join(runnerArguments(api.Spec{Execution: e}), " ")
		if _, got, _ := strings.Cut(args, "--bundle "); strings.TrimSpace(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The runner reads none of these variables itself: the call may change them, and
// a secret stays one.
func TestStoreArguments(t *testing.T) {
	for want, c := range map[string]struct {
		env       []api.EnvVar
		secretEnv []string
	}{
		"": {env: []api.EnvVar{{Name: "STORAGE_EMULATOR_HOST"}, {Name: "OTHER", Value: "x"}}},
		"--emulator http://fake:4443 --metadata-host 10.0.0.1": {env: []api.EnvVar{
			{Name: "GCE_METADATA_HOST", Value: "10.0.0.1"}, {Name: "STORAGE_EMULATOR_HOST", Value: "http://fake:4443"},
		}},
		"--credentials /keys/$$(HOME).json":               {env: []api.EnvVar{{Name: "GOOGLE_APPLICATION_CREDENTIALS", Value: "/keys/$(HOME).json"}}},
		"--credentials $(GOOGLE_APPLICATION_CREDENTIALS)": {secretEnv: []string{"A", "GOOGLE_APPLICATION_CREDENTIALS"}},
	} {
		s := api.Spec{Execution: api.Execution{Env: c.env}, SecretEnv: c.secretEnv}
		if got := strings.Join(storeArguments(s), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A first call that is too long for one argument comes in pieces, each a text.
func TestFirstCallOfAWarmHost(t *testing.T) {
	long := strings.Repeat("é$(X)", 40_000)
	first := api.WarmCall{ID: "job-a", Argv: []string{long}}
	args, err := warmArguments(api.Spec{Warm: &api.Warm{First: first}})
	if err != nil {
		t.Fatal(err)
	}
	var text string
	for i, arg := range args {
		if len(arg) > 128<<10 || !utf8.ValidString(arg) {
			t.Errorf("argument %d has %d bytes", i, len(arg))
		}
		if i > 0 && args[i-1] == "--warm-first" {
			text += arg
		}
	}
	var got api.WarmCall
	if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got.Argv, first.Argv) {
		t.Errorf("the pieces are not the call: %v", err)
	}
}
