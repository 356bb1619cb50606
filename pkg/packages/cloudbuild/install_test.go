package cloudbuild_test

import (
	"archive/zip"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// A workshop is where commands of a Dockerfile run, with a real pip.
type workshop struct {
	*testing.T
	dir                 string
	interpreter, python string
}

func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	said, err := exec.Command("python3", "-c", "import pip, sys; assert int(pip.__version__.split('.')[0]) >= 23; print(sys._base_executable, '%d.%d' % sys.version_info[:2])").Output()
	if err != nil {
		t.Skip("python3 has no pip, or one that is older than 23")
	}
	w := &workshop{T: t}
	w.interpreter, w.python, _ = strings.Cut(strings.TrimSpace(string(said)), " ")
	if w.dir, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if real, err := filepath.EvalSymlinks(w.interpreter); err == nil {
		w.interpreter = real
	}
	return w
}

// image returns an image that is made of the wheels in the workshop.
func (w *workshop) image() cloudbuild.Image {
	return cloudbuild.Image{
		Base: base, Installer: cloudbuild.Pip, Interpreter: w.interpreter,
		Layout:  wheel.Layout{Prefix: strings.TrimPrefix(w.dir, "/") + "/env", Python: w.python},
		Options: []string{"--no-index", "--find-links " + w.dir},
	}
}

// run runs the commands of the stages of an image that install, in their order, after that which ADD does.
func (w *workshop) run(i cloudbuild.Image) {
	w.Helper()
	files := unpack(w.T, source(w.T, i).Data)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644); err != nil {
			w.Fatal(err)
		}
	}
	w.must("tar -xzf " + filepath.Join(w.dir, "env.tar.gz") + " -C /")
	for _, command := range strings.Split(files["Dockerfile"], "--mount=type=bind,target=/source \\\n")[1:] {
		command, _, _ = strings.Cut(command, "\n\n")
		w.must(strings.NewReplacer("/source/", w.dir+"/", "HOME=/root ", "HOME="+w.dir+" ", "/alone", w.dir+"/alone").Replace(command))
	}
}

func (w *workshop) must(command string) string {
	w.Helper()
	run := exec.Command("sh", "-c", command)
	out, err := run.Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		w.Fatalf("%s\n%v: %s%s", command, err, out, failed.Stderr)
	}
	if err != nil {
		w.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// The command of the Dockerfile, run here with a real pip, gives an environment whose Python
// imports what was installed.
func TestInstallWithPip(t *testing.T) {
	w := newWorkshop(t)
	writeWheel(t, filepath.Join(w.dir, "tiny-1.0-py3-none-any.whl"), "tiny")
	i := w.image()
	i.Requirements, i.Constraints = []string{"tiny>=1"}, []string{"tiny<2"}
	w.run(i)
	cached, prefix, _ := strings.Cut(w.must(w.dir+"/env/bin/python -c 'import sys, tiny; print(tiny.__cached__, sys.prefix)'"), " ")
	if prefix != w.dir+"/env" {
		t.Errorf("the environment is %s, want %s/env", prefix, w.dir)
	}
	if _, err := os.Stat(cached); err != nil || !strings.HasPrefix(cached, w.dir+"/env/lib/python"+w.python+"/site-packages/") {
		t.Errorf("the module is not compiled: %v", err)
	}
}

// TestInstallLargeWithPip: what a large package's layer has is the same in every build, whatever else is
// installed, and a command and a module of it work in the environment.
func TestInstallLargeWithPip(t *testing.T) {
	w := newWorkshop(t)
	writeWheel(t, filepath.Join(w.dir, "huge-1.0-py3-none-any.whl"), "huge")
	writeWheel(t, filepath.Join(w.dir, "tiny-1.0-py3-none-any.whl"), "tiny")
	i := w.image()
	i.Complete, i.Requirements = true, []string{"tiny"}
	i.Large = []cloudbuild.Package{{Project: "huge", Requirement: "huge @ file://" + w.dir + "/huge-1.0-py3-none-any.whl"}}
	layer := func() string {
		return w.must("tar --sort=name -C " + w.dir + "/alone -c . | sha256sum; find " + w.dir + "/alone")
	}
	w.run(i)
	first := layer()
	if strings.Contains(first, "tiny") || strings.Contains(first, "pyvenv.cfg") {
		t.Errorf("the layer of huge has more than huge:\n%s", first)
	}
	w.must("rm -r " + w.dir + "/alone " + w.dir + "/env && touch " + w.dir + "/huge-1.0-py3-none-any.whl")
	i.Requirements = []string{"tiny>=1"}
	w.run(i)
	if second := layer(); second != first {
		t.Errorf("the second build of the layer has\n%s\nwant\n%s", second, first)
	}
	// As COPY does.
	w.must("cp -a " + w.dir + "/alone/. / && rm -r " + w.dir + "/alone")
	said := w.must(w.dir + "/env/bin/huge; " + w.dir + "/env/bin/python -v -c 'import huge, tiny; print(huge.run.__code__.co_filename)' 2>&1")
	site := w.dir + "/env/lib/python" + w.python + "/site-packages/"
	for _, want := range []string{"it runs", "code object from '" + site + "__pycache__/huge.", "\n" + site + "huge.py\n"} {
		if !strings.Contains("\n"+said+"\n", want) {
			t.Errorf("%q is missing in\n%s", want, said)
		}
	}
}

// writeWheel writes a wheel with one module and one command of its name.
func writeWheel(t *testing.T, path, project string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(f)
	for name, text := range map[string]string{
		".py":                             "def run():\n    print('it runs')\n",
		"-1.0.dist-info/METADATA":         "Metadata-Version: 2.1\nName: " + project + "\nVersion: 1.0\n",
		"-1.0.dist-info/WHEEL":            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"-1.0.dist-info/entry_points.txt": "[console_scripts]\n" + project + " = " + project + ":run\n",
		"-1.0.dist-info/RECORD":           strings.ReplaceAll("P.py,,\nP-1.0.dist-info/METADATA,,\nP-1.0.dist-info/WHEEL,,\nP-1.0.dist-info/entry_points.txt,,\nP-1.0.dist-info/RECORD,,\n", "P", project),
	} {
		w, err := archive.Create(project + name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}
