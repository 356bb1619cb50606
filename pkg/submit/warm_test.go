package submit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/render"
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
		p, err := Plan(t.Context(), r, config.Target{Namespace: "ml", Store: "gs://b"}, Machine{Cwd: dir, CacheDir: cache, EditedSince: since}, FixedIdentity())
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

// A host that takes calls through the store says so, and is at the same place as one that does not.
func TestHostWithInbox(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.py"), []byte("def f():\n    pass\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := api.Request{Invocation: api.Invocation{Target: "f.py:f"}, KeepWarm: api.KeepWarm{Idle: time.Minute, Level: api.WarmPreloaded}}
	r.Image, r.Backend = "i", api.BackendGKE
	p, err := Plan(t.Context(), r, config.Target{Namespace: "ml", Store: "gs://b"}, Machine{Cwd: dir, CacheDir: t.TempDir()}, FixedIdentity())
	if err != nil {
		t.Fatal(err)
	}
	place, err := p.WarmPlace("ann")
	if err != nil {
		t.Fatal(err)
	}
	p.Spec.Host = "cpu-warm-1"
	for _, inbox := range []bool{false, true} {
		host, err := p.WarmHost(place, "ann", []byte("key"), inbox)
		if err != nil {
			t.Fatal(err)
		}
		rendered, err := render.Objects(host, p.Overlay)
		if err != nil {
			t.Fatal(err)
		}
		text := string(rendered.YAML())
		if got := strings.Contains(text, "- --warm-inbox\n") && strings.Contains(text, api.AnnotationWarmInbox+`: "true"`); got != inbox {
			t.Errorf("the manifest has an inbox: %v, want %v", got, inbox)
		}
		if !strings.Contains(text, api.LabelWarm+": "+place.Key) {
			t.Errorf("with an inbox: %v: the host is not at %s", inbox, place.Key)
		}
	}
}

// What distinguishes two places is told with its value, if people can read that.
func TestDifferenceOfPlaces(t *testing.T) {
	place := WarmPlace{Parts: []WarmPart{{"the image", "a:1"}, {"the level", "process"}, {manifestPart, "abc"}}}
	for theirs, want := range map[string]string{
		`[{"name":"the image","value":"a:1"},{"name":"the level","value":"process"},{"name":"the manifest","value":"abc"}]`: "",
		`[{"name":"the image","value":"a:1"},{"name":"the level","value":"clean"},{"name":"the manifest","value":"def"}]`:   "the level differs (clean there)",
		`[{"name":"the image","value":""},{"name":"the level","value":"clean"}]`:                                            "the image differs (none there)",
		`[{"name":"the image","value":"a:1"},{"name":"the level","value":"process"},{"name":"the manifest","value":"def"}]`: "the manifest differs",
		`[{"name":"the image","value":"a:1"}]`: "the level differs",
		`no JSON`:                              "",
	} {
		if got := place.Difference(theirs); got != want {
			t.Errorf("%s: got %q, want %q", theirs, got, want)
		}
	}
}
