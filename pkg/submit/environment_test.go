package submit

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// planOf plans a job of a project with some files, in a cluster of GKE unless it is changed.
func planOf(t *testing.T, files map[string]string, change func(*api.Request, *config.Target)) (Planned, error) {
	t.Helper()
	root := t.TempDir()
	files["train.py"] = "def f():\n    pass\n"
	files[".git/HEAD"] = ""
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := api.Request{Invocation: api.Invocation{Target: "train.py:f"}, Execution: api.Execution{Retries: -1, MaxDisruptions: -1}}
	where := config.Target{Project: "acme", Zone: "us-central1-a", Cluster: "main", GKE: true, Namespace: "default", Store: "gs://b"}
	if change != nil {
		change(&r, &where)
	}
	return Plan(context.Background(), typed(t, r), where, Machine{Cwd: root, Home: t.TempDir(), CacheDir: t.TempDir()}, FixedIdentity())
}

func TestPlanOfPackages(t *testing.T) {
	tests := map[string]struct {
		files  map[string]string
		change func(*api.Request, *config.Target)
		image  string // its beginning
		err    string
	}{
		"nothing to install": {map[string]string{}, nil, "python:3.", ""},
		"requirements":       {map[string]string{"requirements.txt": "six\n"}, nil, "us-docker.pkg.dev/acme/kn-main/env:r-", ""},
		"a mistake in them":  {map[string]string{"requirements.txt": "six ==\n"}, nil, "", "requirements.txt:1"},
		"a mistake in them, and an image of one's own": {map[string]string{"requirements.txt": "six ==\n"},
			func(r *api.Request, _ *config.Target) { r.Image = "me/mine:1" }, "me/mine:1", ""},
		"what is outside the package root": {map[string]string{"requirements.txt": "-e ../other\n"}, nil, "", "outside the package root"},
		"a file that was named":            {map[string]string{"more.txt": "six\n"}, func(r *api.Request, _ *config.Target) { r.Images.Requirements = "more.txt" }, "us-docker.pkg.dev/acme/kn-main/env:r-", ""},
		"a file that was named, and an image of one's own": {map[string]string{"more.txt": "six\n"},
			func(r *api.Request, _ *config.Target) { r.Image, r.Images.Requirements = "me/mine:1", "more.txt" }, "", "--requirements cannot be combined with --image me/mine:1"},
		"the repository of a profile": {map[string]string{"requirements.txt": "six\n"}, func(_ *api.Request, t *config.Target) { t.ImageRepo = "r.example/env" }, "r.example/env:r-", ""},
		"a repository before that of a profile": {map[string]string{"requirements.txt": "six\n"},
			func(r *api.Request, t *config.Target) {
				r.Images.ImageRepo, t.ImageRepo = "mine.example/env", "r.example/env"
			}, "mine.example/env:r-", ""},
		"the base of a profile":                 {map[string]string{}, func(_ *api.Request, t *config.Target) { t.BaseImage = "r.example/base:1" }, "r.example/base:1", ""},
		"--python before the base of a profile": {map[string]string{}, func(r *api.Request, t *config.Target) { r.Images.Python, t.BaseImage = "3.11", "r.example/base:1" }, "python:3.11-slim", ""},
		"a cluster that is not one of GKE":      {map[string]string{"requirements.txt": "six\n"}, func(_ *api.Request, t *config.Target) { *t = config.Target{Namespace: "default", Store: "gs://b"} }, "python:3.", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := planOf(t, tt.files, tt.change)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || !strings.HasPrefix(p.Spec.Image, tt.image) {
				t.Errorf("image %q, want %s…; %v", p.Spec.Image, tt.image, err)
			}
		})
	}
}

// TestModulesOfProjects: installing a project makes its modules importable; so does the plan. For other programs, they come last.
func TestModulesOfProjects(t *testing.T) {
	for _, command := range []bool{false, true} {
		p, err := planOf(t, map[string]string{
			"requirements.txt": "-e .\n-e ./libs/a\n-e ./flat", "flat/flat.py": "", "pyproject.toml": "[project]\nname = \"p\"\n", "src/p/__init__.py": "",
			"libs/a/pyproject.toml": "[project]\nname = \"a\"\n", "libs/a/src/a.py": "",
		}, func(r *api.Request, _ *config.Target) {
			if command {
				r.Invocation = api.Invocation{Command: true, Args: []string{"torchrun", "-m", "p.train"}}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"", "src", "libs/a/src", "flat"}
		if command {
			want = nil
		}
		if all := []string{"src", "libs/a/src", "flat"}; !slices.Equal(p.SysPath[len(p.SysPath)-3:], all) {
			t.Errorf("command %v: modules are in %q, want %q at the end", command, p.SysPath, all)
		}
		if !slices.Equal(p.call.SysPath, want) {
			t.Errorf("command %v: sys.path %q, want %q", command, p.call.SysPath, want)
		}
		last := slices.ContainsFunc(p.Files.Index.Files, func(f api.IndexFile) bool {
			return f.Path == api.MetadataDir+"/projects.pth" && f.Size == int64(len("../src\n../libs/a/src\n../flat\n"))
		})
		if !last {
			t.Errorf("command %v: its directories don't come last for other programs", command)
		}
	}
}

// TestRuntimeSetsTheBackendOfKeras, unless the user does.
func TestRuntimeSetsTheBackendOfKeras(t *testing.T) {
	of := func(files map[string]string, change func(*api.Request, *config.Target)) string {
		p, err := planOf(t, files, change)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Spec.Env {
			if e.Name == kerasBackend {
				return e.Value
			}
		}
		return ""
	}
	value := func(change func(*api.Request, *config.Target)) string { return of(map[string]string{}, change) }
	if got := value(func(r *api.Request, _ *config.Target) { r.AcceleratorText = "v6e-8" }); got != "jax" {
		t.Errorf("on a TPU: %q", got)
	}
	if got := value(func(r *api.Request, _ *config.Target) {
		r.AcceleratorText = "l4"
		r.Env = []api.EnvVar{{Name: kerasBackend, Value: "torch"}}
	}); got != "torch" {
		t.Errorf("set by the user: %q", got)
	}
	if got := value(nil); got != "" {
		t.Errorf("on cpu: %q", got)
	}
	for listed, want := range map[string]string{
		"keras\ntorch\n": "torch", "keras\ntorchvision\n": "torch", "keras\nlightning\n": "torch", "torch_xla[tpu]\nkeras\n": "torch",
		"keras\ntensorflow\n": "tensorflow", "tensorflow-cpu\ntorch\n": "tensorflow", "tf-keras\n": "tensorflow", "transformers[tf]\n": "tensorflow",
		"tensorflow-macos; sys_platform == 'darwin'\ntorch\n": "torch", "torch; python_version < '3'\nkeras\n": "",
		"keras\njax\ntorch\n": "jax", "flax\ntensorflow\n": "jax", "keras\n": "", "tensorflow-datasets\n": "", "my-models\n": "",
	} {
		if got := of(map[string]string{"requirements.txt": listed}, nil); got != want {
			t.Errorf("%q on cpu: %q, want %q", listed, got, want)
		}
	}
	for listed, want := range map[string]string{"torch\nmy-models\n": "", "torch_xla[tpu]\n": "torch", "tensorflow-tpu\n": "tensorflow"} {
		if got := of(map[string]string{"requirements.txt": listed}, func(r *api.Request, _ *config.Target) { r.AcceleratorText = "v6e-8" }); got != want {
			t.Errorf("%q on a TPU: %q, want %q", listed, got, want)
		}
	}
}

func TestWithEnvironment(t *testing.T) {
	p := Planned{Secrets: map[string]string{"TOKEN": "t"}, Spec: api.Spec{SecretEnv: []string{"TOKEN"}}}
	secrets := p.Secrets
	got := p.WithEnvironment(decide.Provided{Image: "i", SHA256: "s", Netrc: "machine h", Wheels: []wheel.Source{{File: "f", SHA256: "h"}}})
	if got.Spec.Image != "i" || got.Spec.EnvironmentSHA256 != "s" || !slices.Equal(got.Spec.SecretEnv, []string{api.Contract.Names.Netrc, "TOKEN"}) || got.Secrets[api.Contract.Names.Netrc] != "machine h" {
		t.Errorf("plan %+v", got)
	}
	if len(secrets) != 1 {
		t.Errorf("the caller's secrets were changed: %q", secrets)
	}
}

func TestHandleNamesThePackages(t *testing.T) {
	p := planned(t, "{}").WithEnvironment(decide.Provided{Plan: decide.Plan{Mode: decide.Prebuilt}, Image: "i", SHA256: "s",
		Digests: []string{"sha256:d"}, Wheels: []wheel.Source{{File: "f", SHA256: "h"}}})
	sent, err := apply(t.Context(), p, registry(t, workload{start: well, ready: well}))
	if err != nil {
		t.Fatal(err)
	}
	h := sent.Job.Handle
	if h.ImageMode != "prebuilt" || h.EnvironmentSHA256 != "s" || h.ImageURI != "i" || !slices.Equal(h.ImageDigests, []string{"sha256:d"}) ||
		!slices.Equal(h.Packages, []api.Package{{File: "f", SHA256: "h"}}) {
		t.Errorf("the handle has %+v", h)
	}
}

// TestStartedByDigest: pods run the image that was made, and not what its name stands for later.
func TestStartedByDigest(t *testing.T) {
	for mode, want := range map[decide.Mode]string{decide.Bundled: "r.example/env:r-1@sha256:d", decide.Prebuilt: "r.example/env:r-1", decide.Custom: "r.example/env:r-1"} {
		plan := decide.Plan{Mode: mode, Tag: "r-1"}
		p := planned(t, "{}").WithEnvironment(decide.Provided{Plan: plan, Image: "r.example/env:r-1", Digests: []string{"sha256:d"}})
		var started api.Spec
		start := func(_ context.Context, spec api.Spec, _ map[string]string) error { started = spec; return nil }
		sent, err := Apply(t.Context(), p, registry(t, workload{start: well, ready: well}), Hooks{Start: start}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if started.Image != want || started.ImageMoves != (mode != decide.Bundled) {
			t.Errorf("%s: started with %s, which moves: %v; want %s", mode, started.Image, started.ImageMoves, want)
		}
		if got := sent.Job.Handle.ImageURI; got != "r.example/env:r-1" || p.Spec.Image != got {
			t.Errorf("%s: the handle has %s, and a dry-run %s", mode, got, p.Spec.Image)
		}
	}
}

// TestModuleDirs: what an editable installation would put on the path.
func TestModuleDirs(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"a/src/a", "b/b", "known/src", "src"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(dir)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var projects []string
	for _, dir := range []string{".", "a", "b", "a", "known", "missing", "../outside"} {
		projects = append(projects, filepath.Join(root, filepath.FromSlash(dir)))
	}
	got := moduleDirs(projects, root, []string{".", "known/src"})
	if want := []string{"src", "a/src", "b"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := moduleDirs([]string{filepath.Join(root, "b")}, filepath.Join(root, "b"), []string{"."}); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}
