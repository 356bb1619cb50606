package image_test

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// findPython returns the version and the path of the interpreter of this machine.
var findPython = sync.OnceValues(func() ([]string, error) {
	out, err := exec.Command("python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])\nprint(sys.executable)").Output()
	return strings.Fields(string(out)), err
})

// here returns an environment for the Python of this machine, and its interpreter.
func here(t *testing.T, s *server, x *index) (image.Env, wheel.Compiler) {
	t.Helper()
	words, err := findPython()
	if err != nil {
		t.Skipf("there is no python3: %v", err)
	}
	e := small(t, s, x)
	e.Base = s.put(t, "library/python:here", baseOf(t, "amd64", official(words[0]+".1"), layerOf(t, glibc)))
	e.Layout.Python, e.Bytecode = words[0], true
	return e, wheel.Compiler{Python: words[1]}
}

// notes returns the kinds of notes that the registry has: "c" with bytecode, "" without.
func notes(t *testing.T, s *server, e image.Env) map[string]int {
	t.Helper()
	kinds := map[string]int{}
	for _, tag := range s.tags(t, "w-") {
		_, rest, _ := strings.Cut(tag, "-py"+e.Layout.Python+"-")
		kinds[strings.Trim(rest, "0123456789")]++
	}
	return kinds
}

func hasBytecode(t *testing.T, s *server, e image.Env) bool {
	t.Helper()
	for name := range files(t, s.image(t, tagOf(t, e))) {
		if strings.HasSuffix(name, ".pyc") {
			return true
		}
	}
	return false
}

func TestBytecode(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e, compiler := here(t, s, x)
	made := mustMake(t, client(t), s, e, image.Options{Compiler: compiler})
	if kinds := notes(t, s, e); len(made.Warnings) != 0 || kinds["c"] != 3 || kinds[""] != 0 || !hasBytecode(t, s, e) {
		t.Errorf("made %+v, notes %v", made, kinds)
	}
	// Another machine takes these layers, though it has no interpreter.
	e.Base = s.twin(t, e.Base)
	if made := mustMake(t, client(t), s, e, image.Options{}); made.Layers != 0 || len(made.Warnings) != 0 {
		t.Errorf("made %+v", made)
	}
}

// Without the interpreter that is needed, the image has no bytecode. Its name is the same.
func TestBytecodeCannotBeMade(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ python, warning string }{
		"none":    {"", "modules are not compiled, since there is no Python "},
		"missing": {"/does/not/exist", "modules are not compiled, jobs start more slowly: /does/not/exist: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, x := inProcess(t), newIndex(t)
			e, compiler := here(t, s, x)
			o := image.Options{Compiler: wheel.Compiler{Python: tt.python}}
			made := mustMake(t, client(t), s, e, o)
			if kinds := notes(t, s, e); len(made.Warnings) != 1 || !strings.HasPrefix(made.Warnings[0], tt.warning) || kinds[""] != 3 || kinds["c"] != 0 || hasBytecode(t, s, e) {
				t.Errorf("made %+v, notes %v", made, kinds)
			}
			e.Base = s.twin(t, e.Base)
			if made := mustMake(t, client(t), s, e, o); made.Layers != 0 {
				t.Errorf("made %+v, want the layers without bytecode", made)
			}
			// Whoever can make bytecode does.
			e.Base = s.put(t, "library/python:again", baseOf(t, "amd64", official(e.Layout.Python+".2"), layerOf(t, glibc)))
			mustMake(t, client(t), s, e, image.Options{Compiler: compiler})
			if !hasBytecode(t, s, e) {
				t.Error("there is no bytecode")
			}
		})
	}
}

// Bytecode may differ from machine to machine. The layer that is noted first is everybody's.
func TestFirstBytecodeWins(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e, compiler := here(t, s, x)
	alpha := e.Wheels[0]
	e.Wheels = e.Wheels[1:2]
	mustMake(t, client(t), s, e, image.Options{Compiler: compiler})
	others := s.tags(t, "w-"+e.Wheels[0].SHA256)[0]
	e.Wheels = []wheel.Source{alpha}
	x.disturb = func(http.ResponseWriter, *http.Request) bool {
		s.put(t, "acme/env:"+strings.Replace(others, others[2:66], alpha.SHA256, 1), s.image(t, others))
		return false
	}
	made := mustMake(t, client(t), s, e, image.Options{Compiler: compiler})
	m, err := s.image(t, others).Manifest()
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.image(t, tagOf(t, e)).Manifest()
	if err != nil || got.Layers[2].Digest != m.Layers[0].Digest || made.Layers != 0 {
		t.Errorf("made %+v with the layers %v, %v", made, got.Layers, err)
	}
}

// The layout's Python must be that of the base, since layers depend on it.
func TestPythonOfTheBase(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := small(t, s, x)
	e.Layout.Python = "3.11"
	_, err := client(t).Make(t.Context(), s.repo(), e, image.Options{})
	if err == nil || !strings.Contains(err.Error(), "the base image "+e.Base+": it has Python 3.12, and the environment is for 3.11") {
		t.Errorf("err = %v", err)
	}
}

// TestImageEqualsPipsInstallation installs wheels with pip into a real virtual environment,
// and compares it with the files of an image of the same wheels and place.
func TestImageEqualsPipsInstallation(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pip installs in another layout there")
	}
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e, _ := here(t, s, x)
	words, _ := findPython()
	if out, err := exec.Command(words[1], "-m", "pip", "--version").CombinedOutput(); err != nil {
		t.Skipf("python3 has no pip: %v: %s", err, out)
	}
	e.Bytecode = false
	e.Wheels = []wheel.Source{
		x.add(t, "plain", "1", file{name: "plain/__init__.py", data: "x = 1\n"}, file{name: "plain/data.bin", data: noise(1, 100_000)}),
		x.add(t, "ns_one", "1", file{name: "ns/one.py", data: "one = 1\n"}, file{name: "ns_one-1.data/data/share/one.txt", data: "one"}),
		x.add(t, "tools", "2.0", file{name: "tools.py", data: "def main(): pass\n"},
			file{name: "tools-2.0.data/scripts/tool", data: "#!python\nimport tools\n", mode: 0o111},
			file{name: "tools-2.0.data/purelib/more.py", data: "more = 1\n"},
			file{name: "tools-2.0.dist-info/entry_points.txt", data: "[console_scripts]\ntools-run = tools:main\n"}),
	}
	root := t.TempDir()
	prefix := filepath.Join(root, "env")
	e.Layout.Prefix = "p" // short: pip writes other first lines for long paths
	run(t, words[1], "-m", "venv", "--without-pip", prefix)
	install := []string{words[1], "-m", "pip", "--python", filepath.Join(prefix, "bin", "python"), "install", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-compile"}
	for _, w := range e.Wheels {
		path := filepath.Join(root, w.File)
		put(t, path, x.files[w.File])
		install = append(install, path)
	}
	before := tree(t, prefix)
	run(t, install...)
	want := tree(t, prefix)
	mustMake(t, client(t), s, e, image.Options{})
	got := map[string]string{}
	for name, data := range files(t, s.image(t, tagOf(t, e))) {
		if name, ok := strings.CutPrefix(name, "p/"); ok {
			got[name] = data
		}
	}
	for name, data := range want {
		switch base := filepath.Base(name); {
		case before[name] != "" || slices.Contains([]string{"direct_url.json", "REQUESTED"}, base):
		case slices.Contains([]string{"RECORD", "INSTALLER", "tools-run"}, base):
			if got[name] == "" {
				t.Errorf("%s is missing", name)
			}
		case strings.ReplaceAll(data, "#!"+prefix, "#!/p") != got[name]:
			t.Errorf("%s is %.100q, pip's is %.100q", name, got[name], data)
		}
		delete(got, name)
	}
	for name, data := range got {
		if !strings.HasPrefix(data, "→ ") && name != "pyvenv.cfg" {
			t.Errorf("pip has no %s", name)
		}
	}
	if len(want) < len(before)+12 {
		t.Errorf("pip has installed %d files", len(want)-len(before))
	}
}

// TestNotesOfBytecode: another machine may have made the same layer with another bytecode, so nobody is blamed.
func TestNotesOfBytecode(t *testing.T) {
	t.Parallel()
	for _, withBytecode := range []bool{false, true} {
		s, x := inProcess(t), newIndex(t)
		e, compiler := here(t, s, x)
		o := image.Options{Compiler: compiler}
		if e.Bytecode = withBytecode; !withBytecode {
			o = image.Options{}
		}
		c := client(t)
		mustMake(t, c, s, e, o)
		forge(t, s, e)
		s.do(t, http.MethodDelete, "manifests/"+tagOf(t, e), "")
		made := mustMake(t, c, s, e, o)
		innocent := strings.Contains(strings.Join(made.Warnings, "\n"), "; either another machine rebuilt the layer after it was lost, or someone replaced it: find out who can write to the repository")
		if len(made.Warnings) != 1 || innocent != withBytecode {
			t.Errorf("with bytecode %v: warnings %q", withBytecode, made.Warnings)
		}
	}
}
