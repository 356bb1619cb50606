package submit

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config/target"
)

// A bundle depends on when files were edited only for a warm host: all others are the same for the same files.
func TestWhoseBundleDependsOnEdits(t *testing.T) {
	dir, cache, since := t.TempDir(), t.TempDir(), time.Now().Add(-time.Hour)
	for _, name := range []string{"f.py", "g.py"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("def f():\n    pass\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bundle := func(r api.Request, edited time.Time) string {
		if err := os.Chtimes(filepath.Join(dir, "f.py"), edited, edited); err != nil {
			t.Fatal(err)
		}
		r.Invocation = api.Invocation{Target: "f.py:f"}
		r.Image, r.Backend = "i", api.BackendGKE
		p, err := Plan(t.Context(), r, target.Target{Namespace: "ml", Store: "gs://b"}, Machine{Cwd: dir, CacheDir: cache, EditedSince: since}, FixedIdentity())
		if err != nil {
			t.Fatal(err)
		}
		return p.Spec.BundleSHA256
	}
	warm := api.KeepWarm{Idle: time.Minute, Level: api.WarmPreloaded}
	byDefault := warm
	byDefault.ByDefault = true
	debugged := api.Request{KeepWarm: byDefault}
	debugged.Debug = true
	for name, tt := range map[string]struct {
		r       api.Request
		depends bool
	}{
		"warm":                          {api.Request{KeepWarm: warm}, true},
		"cold":                          {api.Request{}, false},
		"by default, where it can't be": {debugged, false},
	} {
		old, edited := bundle(tt.r, since.Add(-time.Hour)), bundle(tt.r, since.Add(time.Minute))
		if depends := old != edited; depends != tt.depends {
			t.Errorf("%s: the bundle depends on edits: %v, want %v", name, depends, tt.depends)
		}
	}
}
