package cloudbuild_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

const base = "python:3.12-slim@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func image() cloudbuild.Image {
	return cloudbuild.Image{
		Base: base, Layout: wheel.Layout{Prefix: "opt/kinetic/env", Python: "3.12"}, Interpreter: "/usr/local/bin/python3.12",
		Installer: cloudbuild.UV, Requirements: []string{"flask", "numpy>=2"},
	}
}

// large returns packages as large as those of CUDA.
func large() []cloudbuild.Package {
	return []cloudbuild.Package{
		{Project: "nvidia-cudnn-cu12", Requirement: "nvidia-cudnn-cu12 @ https://files.example/nvidia_cudnn_cu12-9.10-py3-none-any.whl#sha256=ab12"},
		{Project: "torch", Requirement: "torch @ https://files.example/torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64.whl#sha256=cd34"},
	}
}

func source(t *testing.T, i cloudbuild.Image) cloudbuild.Source {
	t.Helper()
	s, err := i.Source(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSource(t *testing.T) {
	for name, change := range map[string]func(*cloudbuild.Image){
		"plain":    func(*cloudbuild.Image) {},
		"compiled": func(i *cloudbuild.Image) { i.Compiled = true },
		"git": func(i *cloudbuild.Image) {
			i.Requirements = append(i.Requirements, "x @ git+https://github.com/acme/x@v1")
			i.Compiled = true
		},
		"hashed": func(i *cloudbuild.Image) {
			i.Requirements, i.Hashed = []string{"six==1.16.0 --hash=sha256:8abb"}, true
		},
		"options": func(i *cloudbuild.Image) {
			i.Options = []string{"--index-url https://python.acme.example/simple", "--pre"}
			i.Constraints = []string{"werkzeug<4"}
		},
		"base": func(i *cloudbuild.Image) {
			i.InBase, i.Layout.Prefix, i.Requirements = true, "usr/local", []string{"jax[tpu]", "keras"}
			i.Options = []string{"--find-links https://releases.example/libtpu.html"}
		},
		"pip": func(i *cloudbuild.Image) {
			i.Installer, i.Interpreter = cloudbuild.Pip, "/usr/bin/python3.12"
			i.Constraints = []string{"werkzeug<4"}
		},
		"large": func(i *cloudbuild.Image) {
			i.Complete, i.Large = true, large()
		},
		"large-base": func(i *cloudbuild.Image) {
			i.Complete, i.Large = true, large()
			i.InBase, i.Layout.Prefix = true, "usr/local"
		},
		"large-alone": func(i *cloudbuild.Image) {
			i.Complete, i.Large, i.Requirements = true, large()[:1], nil
			i.Installer, i.Interpreter = cloudbuild.Pip, "/usr/bin/python3.12"
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := image()
			change(&i)
			s := source(t, i)
			files := unpack(t, s.Data)
			var page strings.Builder
			fmt.Fprintf(&page, "reused: %s\n", s.Reused)
			for _, file := range slices.Sorted(maps.Keys(files)) {
				text := files[file]
				if file == "env.tar.gz" {
					text = ""
					venv := unpack(t, []byte(files[file]))
					for _, file := range slices.Sorted(maps.Keys(venv)) {
						text += file + ": " + strings.TrimSuffix(strings.ReplaceAll(venv[file], "\n", "; "), "; ") + "\n"
					}
				}
				fmt.Fprintf(&page, "\n== %s\n%s", file, text)
			}
			golden.Check(t, "testdata/source-"+name+".golden", page.String())
		})
	}
}

// The same files give the same object, in any order and at any time, and other files another.
func TestSourceNames(t *testing.T) {
	one, two := cloudbuild.File{Name: "one", Data: []byte("1")}, cloudbuild.File{Name: "two", Data: []byte("2")}
	custom := func(dockerfile string, files ...cloudbuild.File) cloudbuild.Source {
		s, err := cloudbuild.Custom([]byte(dockerfile), files...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b := custom("FROM x\n", one, two), custom("FROM x\n", two, one)
	if a.Name != b.Name || !bytes.Equal(a.Data, b.Data) || a.Reused != cloudbuild.All {
		t.Errorf("%s and %s", a.Name, b.Name)
	}
	if want := "builds/"; !strings.HasPrefix(a.Name, want) || !strings.HasSuffix(a.Name, ".tar.gz") || len(a.Name) != len(want)+64+7 {
		t.Errorf("the name is %s", a.Name)
	}
	if got := unpack(t, a.Data); !maps.Equal(got, map[string]string{"Dockerfile": "FROM x\n", "one": "1", "two": "2"}) {
		t.Errorf("files %q", got)
	}
	for _, other := range []cloudbuild.Source{custom("FROM y\n", one, two), custom("FROM x\n", one), custom("FROM x\n", one, cloudbuild.File{Name: "two", Data: []byte("3")})} {
		if other.Name == a.Name {
			t.Errorf("two sources with the name %s", a.Name)
		}
	}
	if x, y := source(t, image()), source(t, image()); x.Name != y.Name {
		t.Errorf("one image is %s and %s", x.Name, y.Name)
	}
	for _, bad := range []string{"", ".", "../x", "/x", "Dockerfile"} {
		if _, err := cloudbuild.Custom(nil, cloudbuild.File{Name: bad}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", bad)) {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

func TestSourceRefuses(t *testing.T) {
	for want, change := range map[string]func(*cloudbuild.Image){
		`the base image "x\nRUN y"`:     func(i *cloudbuild.Image) { i.Base = "x\nRUN y" },
		`the base image "x AS y"`:       func(i *cloudbuild.Image) { i.Base = "x AS y" },
		`the base image ""`:             func(i *cloudbuild.Image) { i.Base = "" },
		`the requirement "a\nb"`:        func(i *cloudbuild.Image) { i.Requirements = []string{"a\nb"} },
		`the project "Torch"`:           func(i *cloudbuild.Image) { i.Large = []cloudbuild.Package{{Project: "Torch"}} },
		`the requirement "x\ny"`:        func(i *cloudbuild.Image) { i.Large = []cloudbuild.Package{{Project: "torch", Requirement: "x\ny"}} },
		`there is nothing to install`:   func(i *cloudbuild.Image) { i.Requirements = nil },
		`the environment's path "a b"`:  func(i *cloudbuild.Image) { i.Layout.Prefix = "a b" },
		`"python3" is not the absolute`: func(i *cloudbuild.Image) { i.Interpreter = "python3" },
		`"/x; y" is not the absolute`:   func(i *cloudbuild.Image) { i.Interpreter = "/x; y" },
	} {
		i := image()
		change(&i)
		if _, err := i.Source(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "preparing the build of an image: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Credentials get neither into a source, where all who may read the bucket see them, nor into
// the error about them.
func TestCredentials(t *testing.T) {
	for line, shown := range map[string]string{
		"--index-url https://me:hunter2@acme.example/simple":             "--index-url https://***@acme.example/simple",
		"--extra-index-url https://hunter2@acme.example/simple":          "--extra-index-url https://***@acme.example/simple",
		"x @ git+https://hunter2@github.com/acme/x":                      "x @ git+https://***@github.com/acme/x",
		"x @ git+ssh://git:hunter2@github.com/acme/x":                    "x @ git+ssh://***@github.com/acme/x",
		"--find-links HTTPS://${HUNTER2}@acme.example/":                  "--find-links HTTPS://***@acme.example/",
		"x @ https://acme.example/x.whl?X-Goog-Signature=hunter2":        "x @ https://acme.example/x.whl?***",
		"x @ https://acme.example/x.whl?a=b&private_token=hunter2#egg=x": "x @ https://acme.example/x.whl?***#egg=x",
	} {
		for _, change := range []func(*cloudbuild.Image){
			func(i *cloudbuild.Image) { i.Requirements = []string{line} },
			func(i *cloudbuild.Image) { i.Constraints = []string{line} },
			func(i *cloudbuild.Image) { i.Options = []string{line} },
			func(i *cloudbuild.Image) { i.Large = []cloudbuild.Package{{Project: "x", Requirement: line}} },
		} {
			i := image()
			change(&i)
			_, err := i.Source(t.Context())
			var credentials *cloudbuild.CredentialsError
			if !errors.As(err, &credentials) || credentials.Line != shown || strings.Contains(strings.ToLower(err.Error()), "hunter2") {
				t.Errorf("%s: error %v, want one with %s", line, err, shown)
			}
		}
	}
	i := image()
	i.Requirements = []string{"x @ git+ssh://git@github.com/acme/x", "y @ git+https://github.com/acme/y@v1.0", "z @ https://acme.example/z.whl?raw=true", "k[a]>=1; python_version<'4'"}
	source(t, i) // none has credentials
}

func TestMessage(t *testing.T) {
	i := image()
	i.Compiled = true
	full := cloudbuild.Request{Key: "abc", Image: "europe-docker.pkg.dev/acme/kn-research/env:r-abc", Cache: "europe-docker.pkg.dev/acme/kn-research/env:cache"}
	full.Source = source(t, i)
	full.Source.Name = "builds/1.tar.gz" // its hash is tested elsewhere
	least := cloudbuild.Request{Key: "abc", Image: full.Image, Source: full.Source}
	least.Source.Reused = cloudbuild.Nothing
	for name, r := range map[string]cloudbuild.Request{"full": full, "least": least} {
		m := cloudbuild.Message(place, r, 1732187412345678)
		if !strings.HasPrefix(m.Steps[0].Script, "#!/usr/bin/env bash\n") {
			t.Error("the script has no interpreter")
		}
		m.Steps[0].Script = "(build.sh)"
		text, err := protojson.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := json.Indent(&page, text, "", "  "); err != nil { // protojson varies its blanks
			t.Fatal(err)
		}
		golden.Check(t, "testdata/message-"+name+".golden", page.String()+"\n")
	}
}

// The script runs with a docker that writes down what it is asked for.
func TestScript(t *testing.T) {
	digest := "sha256:" + strings.Repeat("ab", 32)
	docker := `#!/bin/sh
printf '%s\n' "docker $*" >>"$CALLS"
case "$*" in *create*) sed 's/^/buildkitd: /' "$HOME/.docker/buildx/buildkitd.default.toml" >>"$CALLS" ;; esac
case "$*" in *"$FAIL"*) exit 3 ;; esac
for word; do case "$word" in --metadata-file=*) printf '{\n  "containerimage.config.digest": "sha256:00",\n  "containerimage.digest": "` + digest + `"\n}\n' >"${word#*=}" ;; esac; done
`
	var page strings.Builder
	for _, tt := range []struct {
		name string
		env  []string
		code int
	}{
		{"no cache", []string{"CACHE=", "REUSED=tools"}, 0},
		{"nothing reused", []string{"CACHE=host/env:cache", "REUSED=nothing"}, 0},
		{"tools", []string{"CACHE=host/env:cache", "REUSED=tools"}, 0},
		{"all", []string{"CACHE=host/env:cache", "REUSED=all"}, 0},
		{"failure", []string{"CACHE=", "REUSED=nothing", "FAIL=push=true"}, 3},
		{"failing tools", []string{"CACHE=host/env:cache", "REUSED=tools", "FAIL=--target"}, 3},
	} {
		dir := t.TempDir()
		calls, output := filepath.Join(dir, "calls"), filepath.Join(dir, "output")
		if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(docker), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "build.sh")
		cmd.Env = append([]string{"PATH=" + dir + ":/usr/bin:/bin", "HOME=" + dir, "CALLS=" + calls, "IMAGE=host/env:r-1", "BUILDER_OUTPUT=" + dir, "FAIL=never"}, tt.env...)
		said, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != tt.code {
			t.Fatalf("%s: %v: %s", tt.name, err, said)
		}
		asked, err := os.ReadFile(calls)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(output)
		if want := digest + "\n"; tt.code == 0 && string(got) != want || tt.code != 0 && got != nil {
			t.Errorf("%s: the output is %q, want %q", tt.name, got, want)
		}
		fmt.Fprintf(&page, "== %s\n%s\n", tt.name, asked)
	}
	golden.Check(t, "testdata/script.golden", page.String())
}
