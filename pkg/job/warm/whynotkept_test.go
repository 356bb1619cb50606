package warm_test

import (
	"net"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
)

// What a host has is for calls with the same variables and packages: both sides hash them alike.
func TestWhyNotKept(t *testing.T) {
	_, address := start(t, `
import sys; sys.path.insert(0, sys.argv[1])
from kinetic_runner.warm.holder import Holder
from kinetic_runner.warm.keeper import KeptProcess
KeptProcess.offer = "imports"
holder = Holder(b"secret", "uid-1", sys.argv[2], 0, 1000.0, 1000.0)
holder.expect({"argv": ["--function", "--environment", "abc"], "environ": {"B": "<ü>", "A": "2", "A-": "\U0001f600\uffee"}})
print(holder.port, flush=True)
holder.serve()
`)
	way, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := warm.Connect(way, []byte(secret), podUID)
	if err != nil {
		t.Fatal(err)
	}
	state, err := conn.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const other = "the variables of -e or the packages differ"
	environ := map[string]string{"A": "2", "B": "<ü>", "A-": "\U0001f600\uffee"}
	for name, tt := range map[string]struct {
		environ map[string]string
		argv    []string
		why     string
	}{
		"a similar call":  {environ, []string{"--environment", "abc", "--function"}, ""},
		"other variables": {map[string]string{"A": "2"}, []string{"--environment", "abc", "--function"}, other},
		"other packages":  {environ, []string{"--environment", "abd", "--function"}, other},
		"no packages":     {environ, []string{"--function"}, other},
		"a script":        {environ, []string{"--environment", "abc"}, "a script or a command runs in a new process"},
	} {
		if why := conn.WhyNotKept(state, api.WarmCall{Argv: tt.argv, Environ: tt.environ}); why != tt.why {
			t.Errorf("%s: %q, want %q", name, why, tt.why)
		}
	}
}
