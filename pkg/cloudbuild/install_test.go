package cloudbuild_test

import (
	"archive/zip"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/wheel"
)

// The command of the Dockerfile, run here with a real pip, gives an environment whose Python
// imports what was installed.
func TestInstallWithPip(t *testing.T) {
	said, err := exec.Command("python3", "-c", "import pip, sys; assert int(pip.__version__.split('.')[0]) >= 23; print(sys._base_executable, '%d.%d' % sys.version_info[:2])").Output()
	if err != nil {
		t.Skip("python3 has no pip, or one that is older than 23")
	}
	interpreter, python, _ := strings.Cut(strings.TrimSpace(string(said)), " ")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	writeWheel(t, filepath.Join(dir, "tiny-1.0-py3-none-any.whl"))
	i := cloudbuild.Image{
		Base: base, Installer: cloudbuild.Pip, Interpreter: interpreter,
		Layout:  wheel.Layout{Prefix: strings.TrimPrefix(dir, "/") + "/env", Python: python},
		Options: []string{"--no-index", "--find-links " + dir}, Requirements: []string{"tiny>=1"}, Constraints: []string{"tiny<2"},
	}
	if interpreter, err = filepath.EvalSymlinks(interpreter); err == nil {
		i.Interpreter = interpreter
	}
	files := unpack(t, source(t, i).Data)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// As ADD does.
	if out, err := exec.Command("tar", "-xzf", filepath.Join(dir, "env.tar.gz"), "-C", "/").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, command, _ := strings.Cut(files["Dockerfile"], "--mount=type=bind,target=/source \\\n")
	command, _, _ = strings.Cut(command, "\n\n")
	command = strings.NewReplacer("/source/", dir+"/", "HOME=/root ", "HOME="+dir+" ").Replace(command)
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s\n%v: %s", command, err, out)
	}
	run := exec.Command(filepath.Join(dir, "env/bin/python"), "-c", "import sys, tiny; print(tiny.__cached__, sys.prefix)")
	out, err := run.Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		t.Fatalf("%v: %s", err, failed.Stderr)
	}
	cached, prefix, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if prefix != dir+"/env" {
		t.Errorf("the environment is %s, want %s/env", prefix, dir)
	}
	if _, err := os.Stat(cached); err != nil || !strings.HasPrefix(cached, dir+"/env/lib/python"+python+"/site-packages/") {
		t.Errorf("the module is not compiled: %v", err)
	}
}

// writeWheel writes a wheel with one module, tiny.
func writeWheel(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(f)
	for name, text := range map[string]string{
		"tiny.py":                     "here = True\n",
		"tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
		"tiny-1.0.dist-info/WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"tiny-1.0.dist-info/RECORD":   "tiny.py,,\ntiny-1.0.dist-info/METADATA,,\ntiny-1.0.dist-info/WHEEL,,\ntiny-1.0.dist-info/RECORD,,\n",
	} {
		w, err := archive.Create(name)
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
