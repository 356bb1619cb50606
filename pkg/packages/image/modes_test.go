package image_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// installProgram has the runner install wheels as it does in a pod: the zip, a store, the environment,
// and the file, hash and size of each wheel.
const installProgram = `import json, os, sys
sys.path.insert(0, sys.argv[1])
from kinetic_runner.packages.install import Installation, parse_wheels
from kinetic_runner.packages.venv import PYTHON_VERSION, Venv
from kinetic_runner.store import open_store
wheels = parse_wheels({"python": PYTHON_VERSION, "wheels": json.loads(sys.argv[4])}, "the list")
folder = sys.argv[3] + "-wheels"
os.makedirs(folder)
venv = Venv(sys.argv[3])
venv.make()
Installation(open_store(sys.argv[2], "", "", ""), wheels, folder, venv).run()
`

// TestModes: the image that this machine makes and what a pod installs are the same environment. Both
// are used on this machine, above the same base.
func TestModes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("images are for Linux")
	}
	t.Parallel()
	words, err := findPython()
	if err != nil {
		t.Skipf("there is no python3: %v", err)
	}
	root, err := os.MkdirTemp("", "modes") // short: it is in the first line of scripts
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	program := filepath.Join(root, runner.File)
	put(t, program, runner.Zip())
	bases := newBases(t, root, words[1])
	number := 0
	for name, p := range projects(words[0]) {
		number++
		m := modes{root: filepath.Join(root, fmt.Sprint(number)), program: program, project: p, base: bases[cmp.Or(p.base, "plain")]}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if m.base == nil {
				t.Skipf("this machine has no interpreter for the base %q", p.base)
			}
			m.compare(t)
		})
	}
}

// A project is what a job has: a base, and what is installed above it.
type project struct {
	base     string
	wheels   []made
	bytecode bool
	// values are those of modules, by name: "" if it can't be imported.
	values map[string]string
}

// made is a wheel that a test writes.
type made struct {
	project, version string
	files            []file
}

// modes is one project in both modes.
type modes struct {
	root, program string
	project       project
	base          *baseDir
}

func (m modes) compare(t *testing.T) {
	t.Helper()
	if err := os.Mkdir(m.root, 0o700); err != nil {
		t.Fatal(err)
	}
	x := newIndex(t)
	var wheels []wheel.Source
	for _, w := range m.project.wheels {
		wheels = append(wheels, x.add(t, w.project, w.version, w.files...))
	}
	bundled := m.bundled(t, x, wheels)
	prebuilt := m.prebuilt(t, x, wheels)
	for part := range bundled {
		if !reflect.DeepEqual(bundled[part], prebuilt[part]) {
			t.Errorf("%s differ:\n bundled  %v\n prebuilt %v", part, bundled[part], prebuilt[part])
		}
	}
	imports, _ := bundled["imports"].(map[string]any)
	for name, want := range m.project.values {
		got := ""
		if seen, ok := imports[name].([]any); ok {
			got = fmt.Sprint(seen[0])
		}
		if got != want {
			t.Errorf("%s has the value %q, want %q: %v", name, got, want, imports[name])
		}
	}
}

// bundled makes the image, unpacks its environment, and returns what a job sees of it.
func (m modes) bundled(t *testing.T, x *index, wheels []wheel.Source) map[string]any {
	t.Helper()
	s, c, env := inProcess(t), client(t), filepath.Join(m.root, "image")
	ref := s.put(t, "base:1", m.base.image(t))
	facts, err := c.Inspect(t.Context(), ref, "amd64")
	if err != nil {
		t.Fatal(err)
	}
	e := image.Env{Base: ref, Arch: "amd64", Layout: wheel.Layout{Prefix: strings.TrimPrefix(env, "/"), Python: facts.Python}, Bytecode: m.project.bytecode, Wheels: wheels}
	mustMake(t, c, s, e, image.Options{Compiler: wheel.Compiler{Python: m.base.python}})
	i := s.image(t, tagOf(t, e))
	unpackBelow(t, i, e.Layout.Prefix)
	config, err := i.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return probe(t, env, config.Config.Env)
}

// prebuilt has the runner install the wheels, and returns what a job sees of them.
func (m modes) prebuilt(t *testing.T, x *index, wheels []wheel.Source) map[string]any {
	t.Helper()
	env, store := filepath.Join(m.root, "pod"), filepath.Join(m.root, "store")
	list := []map[string]any{}
	for _, w := range image.InOrder(wheels) {
		blob := filepath.Join(store, "blobs", "sha256", w.SHA256[:2], w.SHA256)
		if err := os.MkdirAll(filepath.Dir(blob), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, blob, x.files[w.File])
		list = append(list, map[string]any{"file": w.File, "sha256": w.SHA256, "size": w.Size})
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	install := exec.Command(m.base.find(t), "-c", installProgram, m.program, "file://"+store, env, string(text))
	install.Env = []string{m.base.path()}
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("the runner can't install: %v\n%s", err, out)
	}
	return probe(t, env, []string{"PATH=" + env + "/bin:" + strings.TrimPrefix(m.base.path(), "PATH="), "VIRTUAL_ENV=" + env})
}

// probe returns what the python3 of an environment sees.
func probe(t *testing.T, env string, variables []string) map[string]any {
	t.Helper()
	program, err := os.ReadFile(filepath.Join("testdata", "probe.py"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(filepath.Join(env, "bin", "python3"), "-c", string(program), env)
	command.Env, command.Dir = variables, "/"
	var failure bytes.Buffer
	command.Stderr = &failure
	out, err := command.Output()
	seen := map[string]any{}
	if err == nil {
		err = json.Unmarshal(out, &seen)
	}
	if err != nil {
		t.Fatalf("what Python sees: %v\n%s%s", err, out, &failure)
	}
	return seen
}

// unpackBelow writes the files of an image that are below a directory, at their place.
func unpackBelow(t *testing.T, i v1.Image, prefix string) {
	t.Helper()
	r := mutate.Extract(i)
	defer r.Close()
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(h.Name, prefix+"/") {
			continue
		}
		to := "/" + h.Name
		if err := os.MkdirAll(path.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		switch h.Typeflag {
		case tar.TypeReg:
			data, err := io.ReadAll(archive)
			if err == nil {
				err = os.WriteFile(to, data, os.FileMode(h.Mode))
			}
			if err != nil {
				t.Fatal(err)
			}
		case tar.TypeSymlink:
			if err := os.Symlink(h.Linkname, to); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A baseDir is a base image as a directory of this machine: an interpreter, and packages of its own.
type baseDir struct {
	root   string // everything of it
	bin    string // what is first on its PATH
	python string // the interpreter itself
	site   string // its packages
}

func (b *baseDir) path() string { return "PATH=" + b.bin + ":/usr/bin:/bin" }

// find returns the python3 of the base.
func (b *baseDir) find(t *testing.T) string {
	t.Helper()
	return filepath.Join(b.bin, "python3")
}

// image returns the base as an image that has its names and links. What is in files doesn't matter.
func (b *baseDir) image(t *testing.T) v1.Image {
	t.Helper()
	files := []file{glibc}
	err := filepath.WalkDir(b.root, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		f := file{name: strings.TrimPrefix(name, "/")}
		if entry.Type()&os.ModeSymlink != 0 {
			if f.link, err = os.Readlink(name); err != nil {
				return err
			}
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return baseOf(t, "amd64", []string{b.path()}, layerOf(t, files...))
}
