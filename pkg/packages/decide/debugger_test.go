package decide

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// TestAddDebugger: a job that waits for a debugger has it, without the runtime unless the job needs that.
func TestAddDebugger(t *testing.T) {
	hash := " --hash=sha256:" + strings.Repeat("a", 64) + "\n"
	for name, tt := range map[string]struct {
		text           string
		kind           api.AcceleratorKind
		change         func(*Input)
		added, refused string
		runtime        bool
	}{
		"nothing else":          {"", api.CPU, nil, "debugpy", "", false},
		"beside others":         {"six\n", api.CPU, nil, "debugpy", "", false},
		"beside JAX":            {"six\n", api.GPU, nil, jaxFor(api.GPU, nil) + " keras debugpy", "", true},
		"in the project":        {"Debugpy==1.8\n", api.CPU, nil, "", "", false},
		"not in hashed lines":   {"six==1.17.0" + hash, api.CPU, nil, "", "requirements.txt has no debugpy, which --debug needs: add it to the project, and lock it again", false},
		"in an image of theirs": {"six\n", api.CPU, func(in *Input) { in.Image = "r.example/mine" }, "", "", false},
		"in their base image":   {"six==1.17.0" + hash, api.CPU, func(in *Input) { in.BaseImage = "r.example/base" }, "", "", false},
		"not with a URL's hash": {"--require-hashes\nhttps://r.example/six-1.0-py3-none-any.whl#sha256=" + strings.Repeat("a", 64) + "\n", api.CPU, nil, "",
			"requirements.txt:1: --require-hashes rejects debugpy, which the job adds without a --hash: lock debugpy with its dependencies, or remove --require-hashes", false},
		"without dependencies": {"six\n", api.CPU, func(in *Input) { in.NoDeps = true }, "", "", false},
		"not asked for":        {"six\n", api.CPU, func(in *Input) { in.Debug = false }, "", "", false},
	} {
		in := input(t, requirements(tt.text))
		in.Accelerator.Kind, in.Debug = tt.kind, true
		if tt.change != nil {
			tt.change(&in)
		}
		p, err := New(in)
		if err != nil && err.Error() != tt.refused || err == nil && tt.refused != "" {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Join(p.Added, " "); err == nil && (got != tt.added || p.HasRuntime() != tt.runtime) {
			t.Errorf("%s: added %q, runtime %v", name, got, p.HasRuntime())
		}
	}
}
