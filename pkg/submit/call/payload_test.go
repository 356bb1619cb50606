package call

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// pickled makes an Invocation of a payload and the rest of a command line.
func pickled(line ...string) api.Invocation {
	w := words(line...)
	w.Payload = "call.pkl"
	return w
}

func TestResolveAPayload(t *testing.T) {
	dir := project(t, "train.py", "pkg/__init__.py", "pkg/mod.py", "jobs/a.py")
	for name, tt := range map[string]struct {
		words api.Invocation
		cwd   string
		want  api.Call
	}{
		"alone":               {pickled(), "", api.Call{SysPath: []string{""}}},
		"in a directory":      {pickled(), "jobs", api.Call{Cwd: "jobs", SysPath: []string{"jobs", ""}}},
		"with a file":         {pickled("train.py"), "", api.Call{File: "train.py", SysPath: []string{""}}},
		"with one of another": {pickled("../pkg/mod.py"), "jobs", api.Call{File: "pkg/mod.py", Cwd: "jobs", SysPath: []string{"pkg", ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, warnings, err := resolve(t, tt.words, dir, filepath.Join(dir, tt.cwd))
			if err != nil || len(warnings) > 0 {
				t.Fatalf("warnings %q, error %v", warnings, err)
			}
			tt.want.Version, tt.want.Kind = api.Contract.Versions.Document, api.CallPickle
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefusesBesideAPayload(t *testing.T) {
	dir := project(t, "train.py", "tool")
	withArg := pickled()
	withArg.KWArgs = []string{"a=1"}
	for want, words := range map[string]api.Invocation{
		"--payload call.pkl cannot be combined with -m train":                       pickled("-m", "train"),
		"--payload call.pkl cannot be combined with --command":                      pickled("--command", "--", "ls"),
		"--payload call.pkl cannot be combined with --arg a=1":                      withArg,
		`--payload call.pkl cannot be combined with arguments after --, got ["x"]`:  pickled("train.py", "--", "x"),
		"TARGET train.py:f: with --payload, TARGET is a Python file of the project": pickled("train.py:f"),
		"TARGET tool: with --payload, TARGET is a Python file":                      pickled("tool"),
		"there is no file trian.py":                                                 pickled("trian.py"),
	} {
		if _, err := Parse(words, dir); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
