package run

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/tools/txtar"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/explain"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata/shapes")

// TestShapes asks --explain about small projects, each of a shape that real ones have. An archive of testdata/shapes
// begins with what its owner expects; it has the flags, the answer, and the files of the project and the home directory.
func TestShapes(t *testing.T) {
	python := findPython(t)
	dir, err := filepath.Abs("testdata/shapes")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d shapes, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newShape(archive)
			got := s.ask(t, python)
			if got == s.want {
				return
			}
			if !*update {
				t.Fatalf("got\n%swant\n%s", got, s.want)
			}
			for i, f := range archive.Files {
				if f.Name == "want" {
					archive.Files[i].Data = []byte(got)
				}
			}
			if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
				t.Error(err)
			}
		})
	}
}

// shape is a project, and what --explain says about it.
type shape struct {
	flags []string
	env   map[string]string
	want  string
	files []txtar.File
}

func newShape(archive *txtar.Archive) shape {
	s := shape{env: map[string]string{}}
	for _, f := range archive.Files {
		switch f.Name {
		case "flags":
			s.flags = strings.Fields(string(f.Data))
		case "env":
			for line := range strings.Lines(string(f.Data)) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
				s.env[name] = value
			}
		case "want":
			s.want = string(f.Data)
		default:
			s.files = append(s.files, f)
		}
	}
	return s
}

// ask runs the command in the project, on a machine with Python 3.11 and uv.
func (s shape) ask(t *testing.T, python string) string {
	t.Helper()
	dir := t.TempDir()
	project, home := filepath.Join(dir, "project"), filepath.Join(dir, "home")
	files := append([]txtar.File{
		{Name: "project/train.py", Data: []byte("def train():\n    return 1\n")}, {Name: "project/.git/HEAD"}, {Name: "home/.keep"},
		{Name: "bin/python3", Data: []byte("#!/bin/sh\ncase \"$*\" in '-I -S -c '*version_info*) echo 3.11 ;; *) exec " + python + " \"$@\" ;; esac\n")},
		{Name: "bin/uv", Data: []byte("#!/bin/sh\necho 'it must not be run' >&2; exit 1\n")},
	}, s.files...)
	for _, f := range files {
		name, data := f.Name, f.Data
		if before, found := strings.CutSuffix(name, ".utf16"); found {
			name, data = before, toUTF16(string(data))
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"HOME": home, "XDG_CACHE_HOME": filepath.Join(dir, "cache"), "PATH": filepath.Join(dir, "bin"),
		"KUBECONFIG": filepath.Join(dir, "none"), "XDG_CONFIG_HOME": "", "VIRTUAL_ENV": ""} {
		t.Setenv(name, value)
	}
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "PIP_") || strings.HasPrefix(name, "UV_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("PIP_CONFIG_FILE", os.DevNull) // the machine's own isn't read either
	for name, value := range s.env {
		t.Setenv(name, strings.ReplaceAll(value, "$DIR", dir))
	}
	t.Chdir(project)
	streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
	args := append([]string{"train.py:train", "--project", "p", "--explain", "-o", "json"}, s.flags...)
	code := cli.Run(t.Context(), NewCommand(streams, clock.RealClock{}), args, streams)
	if code != 0 {
		return strings.ReplaceAll(fmt.Sprintf("exit code %d\n%s", code, stderr), dir, "$DIR")
	}
	var e explain.Explanation
	if err := json.Unmarshal(stdout.Bytes(), &e); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	streams, _, _, stderr = genericiooptions.NewTestIOStreams()
	if code := cli.Run(t.Context(), NewCommand(streams, clock.RealClock{}), slices.Concat(args[:4], s.flags), streams); code != 0 {
		t.Errorf("as text: exit code %d: %s", code, stderr)
	}
	return strings.ReplaceAll(answer(e), dir, "$DIR")
}

// answer is what an explanation says about packages, a fact on each line. The hash in the name of the image is left out.
func answer(e explain.Explanation) string {
	var b strings.Builder
	line := func(name string, values ...string) {
		for _, value := range values {
			fmt.Fprintf(&b, "%-9s%s\n", name, value)
		}
	}
	if e.Deps != nil {
		line("source", e.Deps.Source)
		line("requires", e.Deps.Requirements...)
		line("drops", e.Deps.Dropped...)
		line("local", e.Deps.Local...)
	}
	if e.Image != nil {
		line("adds", e.Image.Added...)
		ref := "null"
		if e.Image.Ref != nil {
			ref, _, _ = strings.Cut(*e.Image.Ref, "@")
		}
		if before, tag, found := strings.Cut(ref, "/env:"); found {
			ref = before + "/env:" + tag[:2] + "…"
		}
		line("image", e.Image.Mode+" "+ref)
		if e.Image.Base != nil && *e.Image.Base != ref {
			line("base", *e.Image.Base)
		}
		if e.Image.Packages != nil {
			var all []string
			for _, p := range e.Image.Chosen {
				all = append(all, p.Name+" "+p.Version)
			}
			line("packages", strings.Join(all, ", "))
		}
		if e.Image.Resolved != nil {
			line("resolved", *e.Image.Resolved)
		}
		for _, i := range e.Image.Indexes {
			if !i.IsDefault() {
				line("index", i.Address+" ("+i.From+")")
			}
		}
		for _, i := range e.Image.Ignored {
			line("ignored", i.Address+" ("+i.From+")")
		}
		if e.Image.How != nil {
			line("how", *e.Image.How)
		}
	}
	line("warning", e.Warnings...)
	return b.String()
}

// toUTF16 returns a text as > of Windows PowerShell writes it.
func toUTF16(text string) []byte {
	data := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(strings.ReplaceAll(text, "\n", "\r\n"))) {
		data = binary.LittleEndian.AppendUint16(data, unit)
	}
	return data
}

// findPython returns the interpreter behind whatever stands first on PATH: version managers put scripts there that
// look for it below HOME.
func findPython(t *testing.T) string {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Skipf("there is no python3 to check functions with: %v", err)
	}
	return strings.TrimSpace(string(out))
}
