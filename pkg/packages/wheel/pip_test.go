package wheel_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// TestInstallationEqualsPips installs a wheel with pip into a real virtual environment, and
// unpacks the layer of the same wheel and place beside it.
func TestInstallationEqualsPips(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pip installs in another layout there")
	}
	t.Parallel()
	interpreter, l := python(t)
	if out, err := exec.Command(interpreter, "-m", "pip", "--version").CombinedOutput(); err != nil {
		t.Skipf("python3 has no pip: %v: %s", err, out)
	}
	// Short, since pip writes other first lines of scripts for long paths.
	root, err := os.MkdirTemp("", "pip")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	prefix := filepath.Join(root, "env")
	run(t, interpreter, "-m", "venv", "--without-pip", prefix)
	before := installed(t, prefix)

	fileName, members := demo()
	for i := range members { // pip leaves scripts as they are in the archive
		if strings.Contains(members[i].name, "/scripts/") {
			members[i].mode = regular | 0o755
		}
	}
	data := wheelOf(t, fileName, members...)
	write(t, filepath.Join(root, fileName), string(data))
	run(t, interpreter, "-m", "pip", "--python", filepath.Join(prefix, "bin", "python"), "install", "--disable-pip-version-check",
		"--no-deps", "--no-index", "--no-compile", filepath.Join(root, fileName))
	want := installed(t, prefix)
	for name := range before {
		delete(want, name)
	}

	l.Prefix = strings.TrimPrefix(filepath.ToSlash(prefix), "/")
	w, err := wheel.Open(fileName, bytes.NewReader(data), int64(len(data)), l)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := unpack(t, layerOf(t, w))
	got := map[string]installedFile{}
	for name, f := range files {
		if _, deleted := whiteout(name); f.Typeflag == tar.TypeReg && !deleted {
			got[strings.TrimPrefix(name, l.Prefix+"/")] = installedFile{f.data, fs.FileMode(f.Mode)}
		}
	}
	compareInstallations(t, got, want)
}

type installedFile struct {
	data string
	mode fs.FileMode
}

func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

func installed(t *testing.T, root string) map[string]installedFile {
	t.Helper()
	files := map[string]installedFile{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(root, name)
		files[filepath.ToSlash(rel)] = installedFile{string(data), info.Mode().Perm()}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// compareInstallations allows what differs: who installed it and from where, the text of
// commands, the directory of headers (pip takes the name from its command line), signatures.
func compareInstallations(t *testing.T, got, want map[string]installedFile) {
	t.Helper()
	var record string
	for name, w := range want {
		switch base := path.Base(name); base {
		case "direct_url.json", "REQUESTED", "RECORD.jws", "RECORD.p7s":
			continue
		case "demo.h":
			name = strings.Replace(name, path.Base(path.Dir(name)), "Demo_Pkg", 1)
		case "RECORD":
			record = name
		}
		g, ok := got[name]
		switch {
		case !ok:
			t.Errorf("%s is missing", name)
		case g.mode != w.mode:
			t.Errorf("%s has mode %o, pip's has %o", name, g.mode, w.mode)
		case g.data != w.data && !slices.Contains([]string{"RECORD", "INSTALLER", "demo", "demo-gui"}, path.Base(name)):
			t.Errorf("%s is %.100q, pip's is %.100q", name, g.data, w.data)
		}
		if strings.HasPrefix(name, "bin/demo") && strings.SplitN(g.data, "\n", 2)[0] != strings.SplitN(w.data, "\n", 2)[0] {
			t.Errorf("%s begins with %.80q, pip's with %.80q", name, g.data, w.data)
		}
		delete(got, name)
		if base := path.Base(name); base == "RECORD" {
			got[name] = g
		}
	}
	ours, pips := recordRows(t, got[record].data), recordRows(t, want[record].data)
	delete(got, record)
	for name := range got {
		t.Errorf("pip has no %s", name)
	}
	for name, row := range ours {
		if !slices.Contains([]string{"INSTALLER", "demo", "demo-gui", "demo.h"}, path.Base(name)) && pips[name] != row {
			t.Errorf("RECORD has %s,%s, pip's has %s", name, row, pips[name])
		}
	}
}

func recordRows(t *testing.T, text string) map[string]string {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(all) == 0 {
		t.Fatalf("%v, %d rows", err, len(all))
	}
	rows := map[string]string{}
	for _, row := range all {
		rows[row[0]] = row[1] + "," + row[2]
	}
	return rows
}

// whiteout returns what a file of a layer deletes below, and whether it deletes anything.
func whiteout(name string) (string, bool) {
	dir, base := path.Split(name)
	deleted, ok := strings.CutPrefix(base, ".wh.")
	return dir + deleted, ok
}

// mount puts layers over each other at their place, as a node does.
func mount(t *testing.T, layers ...*wheel.Layer) {
	t.Helper()
	for _, layer := range layers {
		files, order := unpack(t, layer)
		var err error
		for _, name := range order {
			if deleted, ok := whiteout(name); ok {
				if err = os.Remove("/" + deleted); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				continue
			}
			f := files[name]
			switch to := "/" + name; f.Typeflag {
			case tar.TypeDir:
				err = os.MkdirAll(to, 0o755)
			case tar.TypeSymlink:
				err = os.Symlink(f.Linkname, to)
			default:
				err = os.WriteFile(to, []byte(f.data), fs.FileMode(f.Mode))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestBytecodeBelow: where two wheels have the same module, the bytecode of the one below is not run
// for the source of the other.
func TestBytecodeBelow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no symbolic links")
	}
	interpreter, l := python(t)
	root, err := os.MkdirTemp("", "env")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	for name, tt := range map[string]struct {
		above    string // the source of the module in the wheel above
		compiled bool
		want     string
	}{
		"not compiled":   {"V = 'B'\n", false, "B\n"},
		"compiled":       {"V = 'B'\n", true, "B\n"},
		"not compilable": {"V = (\n", true, "SyntaxError\n"},
	} {
		l.Prefix = strings.TrimPrefix(filepath.ToSlash(root), "/") + "/" + strings.ReplaceAll(name, " ", "-")
		compile := func(w *wheel.Wheel) *wheel.Wheel {
			c, err := wheel.Compiler{Python: interpreter}.Compile(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		below := compile(openIn(t, l, "aaa-1-py3-none-any.whl", member{name: "ns/__init__.py", data: "V = 'A'\n"}))
		above := openIn(t, l, "bbb-1-py3-none-any.whl", member{name: "ns/__init__.py", data: tt.above})
		if tt.compiled {
			above = compile(above)
		}
		venv, err := wheel.Venv(context.Background(), l, filepath.ToSlash(interpreter), "")
		if err != nil {
			t.Fatal(err)
		}
		mount(t, venv, layerOf(t, below), layerOf(t, above))
		program := "try:\n  import ns; print(ns.V)\nexcept SyntaxError: print('SyntaxError')"
		if out, err := exec.Command("/"+l.Prefix+"/bin/python", "-c", program).CombinedOutput(); err != nil || string(out) != tt.want {
			t.Errorf("%s: %v: %q, want %q", name, err, out, tt.want)
		}
	}
}

// TestEnvironmentWorks unpacks the environment's layer and those of a wheel at their place,
// and runs its commands with the real interpreter.
func TestEnvironmentWorks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no symbolic links")
	}
	interpreter, l := python(t)
	root, err := os.MkdirTemp("", "env")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	l.Prefix = strings.TrimPrefix(filepath.ToSlash(root), "/") + "/env"
	w := openIn(t, l, "demo-1-py3-none-any.whl",
		member{name: "demo/__init__.py", data: "def main():\n    import sys\n    print(sys.prefix, len(sys.argv), __import__('importlib.metadata').metadata.version('demo'))\n    return 3\n"},
		member{name: "demo-1.dist-info/entry_points.txt", data: "[console_scripts]\ndemo-run = demo:main\n"})
	w, err = wheel.Compiler{Python: interpreter}.Compile(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	venv, err := wheel.Venv(context.Background(), l, filepath.ToSlash(interpreter), "")
	if err != nil {
		t.Fatal(err)
	}
	mount(t, venv, layerOf(t, w))
	out, err := exec.Command("/"+l.Prefix+"/bin/demo-run", "argument").CombinedOutput()
	exit := new(exec.ExitError)
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || string(out) != "/"+l.Prefix+" 2 1\n" {
		t.Errorf("%v: %s", err, out)
	}
}
