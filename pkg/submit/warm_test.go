package submit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
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
		p, err := Plan(t.Context(), typed(t, r), config.Target{Namespace: "ml", Store: "gs://b"}, Machine{Cwd: dir, CacheDir: cache, EditedSince: since}, FixedIdentity())
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

// plannedWarm is the plan of a call that keeps its pod.
func plannedWarm(t *testing.T) Planned {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.py"), []byte("def f():\n    pass\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := api.Request{Invocation: api.Invocation{Target: "f.py:f"}, KeepWarm: api.KeepWarm{Idle: time.Minute, Level: api.WarmPreloaded}}
	r.Image, r.Backend = "i", api.BackendGKE
	p, err := Plan(t.Context(), typed(t, r), config.Target{Namespace: "ml", Store: "gs://b"}, Machine{Cwd: dir, CacheDir: t.TempDir()}, FixedIdentity())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A host that takes calls through the store says so, and is at the same place as one that does not.
func TestHostWithInbox(t *testing.T) {
	p := plannedWarm(t)
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

// A call says for how long its host stays after it, also to a pod that runs it again.
func TestIdleTimeOfACall(t *testing.T) {
	p := plannedWarm(t)
	p.Spec.KeepWarm.Idle = 90 * time.Second
	if got, again := p.WarmCall().Idle, p.WarmRecord().Idle; got != 90 || again != 90 {
		t.Errorf("got %v and %v seconds", got, again)
	}
}

// Calls are at the same place if their pods have all in common but what belongs to a call alone.
func TestPlaceOfCalls(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"f.py":                       "def f(n=1):\n    pass\ndef g():\n    pass\n",
		"overlay/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nlabels:\n- pairs: {team: a}\n",
		"remarks/kustomization.yaml": "# of team a\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nlabels:\n- pairs:\n    team: a\n",
		"other/kustomization.yaml":   "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nlabels:\n- pairs: {team: b}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	place := func(change func(*api.Request)) WarmPlace {
		r := api.Request{Invocation: api.Invocation{Target: "f.py:f"}, KeepWarm: api.KeepWarm{Idle: time.Minute, Level: api.WarmPreloaded}}
		r.Image, r.Backend = "i", api.BackendGKE
		change(&r)
		p, err := Plan(t.Context(), typed(t, r), config.Target{Namespace: "ml", Store: "gs://b"}, Machine{Cwd: dir, CacheDir: cache}, RandomIdentity(time.Now()))
		if err != nil {
			t.Fatal(err)
		}
		place, err := p.WarmPlace("ann")
		if err != nil {
			t.Fatal(err)
		}
		return place
	}
	key := func(change func(*api.Request)) string { return place(change).Key }
	overlay := func(name string) func(*api.Request) {
		return func(r *api.Request) { r.OverlayDir = filepath.Join(dir, name) }
	}
	bare, overlaid := key(func(*api.Request) {}), key(overlay("overlay"))
	for name, change := range map[string]func(*api.Request){
		"another ID":             func(*api.Request) {},
		"another function":       func(r *api.Request) { r.Target = "f.py:g" },
		"arguments":              func(r *api.Request) { r.KWArgs = []string{"n=2"} },
		"a variable":             func(r *api.Request) { r.Env = []api.EnvVar{{Name: "A", Value: "1"}} },
		"outputs elsewhere":      func(r *api.Request) { r.OutputDir = "gs://b/mine" },
		"another idle time":      func(r *api.Request) { r.KeepWarm.Idle = time.Hour },
		"no calls after an hour": func(r *api.Request) { r.KeepWarm.Limit = time.Hour },
	} {
		if got := key(change); got != bare {
			t.Errorf("%s: another place", name)
		}
	}
	there, err := json.Marshal(place(func(*api.Request) {}).Parts)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(*api.Request)
		why    string
	}{
		"another image":     {func(r *api.Request) { r.Image = "j" }, "the image differs (i there)"},
		"another level":     {func(r *api.Request) { r.KeepWarm.Level = api.WarmProcess }, "the level differs (preloaded there)"},
		"more CPUs":         {func(r *api.Request) { r.CPU = "3" }, "what the pod requests differs (1 2Gi there)"},
		"a disk":            {func(r *api.Request) { r.Disk = "3Gi" }, "the disk differs (none there)"},
		"a class of disks":  {func(r *api.Request) { r.Disk, r.DiskClass = "3Gi", "fast" }, "the disk differs (none there)"},
		"a longer runtime":  {func(r *api.Request) { r.MaxRuntime = 48 * time.Hour }, "--max-runtime differs (24h there)"},
		"a time like 1h30m": {func(r *api.Request) { r.MaxRuntime = 90 * time.Minute }, "--max-runtime differs (24h there)"},
		"a priority class":  {func(r *api.Request) { r.PriorityClass = "high" }, "the priority class differs (none there)"},
		"a label":           {func(r *api.Request) { r.Labels = map[string]string{"a": "b"} }, "a label differs (none there)"},
		"an annotation":     {func(r *api.Request) { r.Annotations = map[string]string{"a": "b"} }, "an annotation differs (none there)"},
		"two hosts":         {func(r *api.Request) { r.Hosts = 2 }, "the number of hosts differs (1 there)"},
		"a secret":          {func(r *api.Request) { r.Secrets = map[string]string{"S": "1"} }, "the set of secrets differs (none there)"},
		"an overlay":        {overlay("overlay"), "the manifest differs"},
	} {
		got := place(tt.change)
		if got.Key == bare {
			t.Errorf("%s: the same place", name)
		}
		if why := got.Differences(string(there)); len(why) == 0 || why[0] != tt.why {
			t.Errorf("%s: got %q, want %q first", name, why, tt.why)
		}
	}
	if got := key(overlay("remarks")); got != overlaid {
		t.Error("an overlay that only reads differently: another place")
	}
	if got := key(overlay("other")); got == overlaid {
		t.Error("another overlay: the same place")
	}
}

// A tag that stands for another image now is another place.
func TestPlaceHasTheDigestOfTheImage(t *testing.T) {
	p, keys := plannedWarm(t), map[string]bool{}
	for _, digest := range []string{"sha256:a", "sha256:b", "sha256:a"} {
		e := decide.Provided{Plan: decide.Plan{Mode: decide.Bundled, Tag: "r-1"}, Image: "r.example/env:r-1", Digests: []string{digest}}
		place, err := p.WithEnvironment(e).WarmPlace("ann")
		if err != nil {
			t.Fatal(err)
		}
		keys[place.Key] = true
	}
	if len(keys) != 2 {
		t.Errorf("two images are at %d places", len(keys))
	}
}

// Labels that are too long to be read are told apart by a hash.
func TestLongLabelsOfAPlace(t *testing.T) {
	a, b := pairs(map[string]string{"x": strings.Repeat("a", maxPairs), "y": "1"}), pairs(map[string]string{"x": strings.Repeat("a", maxPairs), "y": "2"})
	if a == b || len(a) != warmKeyDigits {
		t.Errorf("got %q and %q", a, b)
	}
	if got := pairs(map[string]string{"b": "2", "a": "1"}); got != "a=1 b=2" {
		t.Errorf("got %q", got)
	}
}

// What distinguishes two places is told with its value, if people can read that.
func TestDifferenceOfPlaces(t *testing.T) {
	place := WarmPlace{Parts: []WarmPart{{"the image", "a:1"}, {"the level", "process"}, {manifestPart, "abc"}}}
	for theirs, want := range map[string]string{
		`[{"name":"the image","value":"a:1"},{"name":"the level","value":"process"},{"name":"the manifest","value":"abc"}]`: "",
		`[{"name":"the image","value":"a:1"},{"name":"the level","value":"clean"},{"name":"the manifest","value":"def"}]`:   "the level differs (clean there); the manifest differs",
		`[{"name":"the image","value":""},{"name":"the level","value":"clean"}]`:                                            "the image differs (none there); the level differs (clean there); the manifest differs",
		`[{"name":"the image","value":"a:1"},{"name":"the level","value":"process"},{"name":"the manifest","value":"def"}]`: "the manifest differs",
		`[{"name":"the image","value":"a:1"}]`: "the level differs; the manifest differs",
		`no JSON`:                              "",
	} {
		if got := strings.Join(place.Differences(theirs), "; "); got != want {
			t.Errorf("%s: got %q, want %q", theirs, got, want)
		}
	}
}
