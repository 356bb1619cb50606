package submit

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// TestPythonVersionIsRemembered, but not that of a program that starts another Python: what it starts can change without it.
func TestPythonVersionIsRemembered(t *testing.T) {
	for name, tt := range map[string]struct {
		says  string // as its executable
		link  bool   // python3 is a link to it
		asked int
	}{
		"a Python":                           {"$0", false, 1},
		"one in a virtual environment":       {"$0", true, 1},
		"a link that it resolves":            {"$1", true, 1},
		"a shim":                             {"/elsewhere/python3", false, 2},
		"a shim that is a link":              {"/elsewhere/python3", true, 2},
		"one that does not know where it is": {"", false, 2},
	} {
		dir := t.TempDir()
		bin, version, counter := filepath.Join(dir, "bin"), filepath.Join(dir, "version"), filepath.Join(dir, "count")
		program := filepath.Join(bin, "python3")
		if err := os.Mkdir(bin, 0o700); err != nil {
			t.Fatal(err)
		}
		if tt.link {
			program = filepath.Join(dir, "python3.9")
			if err := os.Symlink(program, filepath.Join(bin, "python3")); err != nil {
				t.Fatal(err)
			}
		}
		says := strings.ReplaceAll(tt.says, "$1", program)
		for file, text := range map[string]string{version: "3.11\n",
			program: "#!/bin/sh\necho . >>'" + counter + "'\nread version <'" + version + "'\necho $version\necho \"" + says + "\"\n"} {
			if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", bin)
		m := Machine{Cwd: dir, CacheDir: filepath.Join(dir, "cache")}
		if got := PythonVersion(t.Context(), m); got != "3.11" {
			t.Errorf("%s: got %q", name, got)
		}
		if err := os.WriteFile(version, []byte("3.12\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		want := map[int]string{1: "3.11", 2: "3.12"}[tt.asked]
		if got := PythonVersion(t.Context(), m); got != want {
			t.Errorf("%s: got %q the second time, want %q", name, got, want)
		}
		if count, err := os.ReadFile(counter); err != nil || bytes.Count(count, []byte(".")) != tt.asked {
			t.Errorf("%s: asked %q, %v, want %d times", name, count, err, tt.asked)
		}
	}
}

// TestPythonVersionOfThisMachine: the real one says where it is.
func TestPythonVersionOfThisMachine(t *testing.T) {
	found, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	executable, err := exec.Command(found, "-c", "import sys; print(sys.executable)").Output()
	if err != nil || !isSameFile(found, strings.TrimSpace(string(executable))) {
		t.Skipf("%s is a shim of %q, %v", found, executable, err)
	}
	m := Machine{Cwd: t.TempDir(), CacheDir: t.TempDir()}
	got := PythonVersion(t.Context(), m)
	kept, err := filepath.Glob(filepath.Join(m.CacheDir, "python-*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("version %q: remembered %q, %v", got, kept, err)
	}
	if text, err := os.ReadFile(kept[0]); err != nil || string(text) != got {
		t.Errorf("version %q: remembered %q, %v", got, text, err)
	}
}

// TestChoosePython: what a Python that can't run a local job is refused with.
func TestChoosePython(t *testing.T) {
	const advice = "install Python 3.9 or newer, or activate a virtual environment that has it"
	for name, tt := range map[string]struct{ program, payload, want string }{
		"none":       {"", "", "--local needs python3, and there is none on PATH: " + advice},
		"the oldest": {"echo 3.9", "", ""},
		"a new one":  {"echo 3.14", "3.14", ""},
		"an old one": {"echo 3.8", "", "--local needs Python 3.9 or newer, but PYTHON is Python 3.8: " + advice},
		"a stub":     {"echo 'xcode-select: no developer tools' >&2; exit 1", "", "--local needs python3, but PYTHON does not work: exit status 1: xcode-select: no developer tools: " + advice},
		"a Python 2": {"echo 2.7", "", `--local needs python3, but PYTHON does not work: it gives "2.7" for its version: ` + advice},
		"another payload": {"echo 3.14", "3.13",
			"--payload call.pkl: it was made with Python 3.13, but PYTHON, which --local uses, is Python 3.14: activate an environment that has Python 3.13"},
	} {
		dir := t.TempDir()
		python := filepath.Join(dir, "python3")
		if tt.program != "" {
			if err := os.WriteFile(python, []byte("#!/bin/sh\n"+tt.program+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", dir)
		var p Planned
		p.Spec.Backend, p.request.Payload, p.payload.Python = api.BackendLocal, "call.pkl", tt.payload
		err, got := p.choosePython(t.Context(), Machine{Cwd: dir, CacheDir: t.TempDir()}), ""
		if err != nil {
			got = err.Error()
		}
		if want := strings.ReplaceAll(tt.want, "PYTHON", python); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
