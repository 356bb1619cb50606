//go:build linux || darwin

package local

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bootDir makes a directory with boot.py, after a prelude, and a zip whose main module is
// runner.
func bootDir(t *testing.T, prelude, runner string) (boot, path string) {
	t.Helper()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	main, err := w.Create("__main__.py")
	if err != nil {
		t.Fatal(err)
	}
	_, err = main.Write([]byte(runner))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	boot, path = filepath.Join(dir, "boot.py"), filepath.Join(dir, "runner.py")
	for file, content := range map[string][]byte{boot: append([]byte(prelude), bootSource...), path: archive.Bytes()} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return boot, path
}

// python runs Python with this input and returns what it printed.
func python(t *testing.T, input string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("python3", args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The runner behaves as if it were started without boot.py, down to its tracebacks.
func TestBootIsNotNoticed(t *testing.T) {
	boot, runner := bootDir(t, "", `
import sys
print(__name__, __file__, sys.argv, sys.path, sys.stdout.write_through)
print(sys.modules["__main__"].__file__, repr(sys.stdin.read()))
raise ValueError("for the traceback")
`)
	want, _ := python(t, "", "-u", runner, "--a", "b c")
	got, err := python(t, "\n", "-u", boot, runner, "--a", "b c")
	if err == nil || !strings.Contains(want, "ValueError") {
		t.Fatalf("the runner did not fail as it should: %s, %v", want, err)
	}
	if diff := cmp.Diff(withoutRunpy(want), withoutRunpy(got)); diff != "" {
		t.Errorf("what the runner sees, alone and behind boot.py (-want +got):\n%s", diff)
	}
}

// withoutRunpy drops all frames of a traceback but the last: Python runs a zip
// with the module runpy, as boot.py does, but with other lines of it.
func withoutRunpy(out string) string {
	before, traceback, _ := strings.Cut(out, "Traceback")
	return before + traceback[max(strings.LastIndex(traceback, "  File "), 0):]
}

// Nothing of a job runs until the job is recorded, and so can be seen.
func TestAStarterThatDiesLeavesNoProcess(t *testing.T) {
	boot, runner := bootDir(t, "", `print("ran")`)
	if out, err := python(t, "", boot, runner); err == nil || out != "" {
		t.Errorf("without a byte of input: %q, %v, want silent failure", out, err)
	}
	if out, err := python(t, "\n", boot, runner); err != nil || out != "ran\n" {
		t.Errorf("with one: %q, %v, want the runner to run", out, err)
	}
}

// The runner of a job in the foreground reads the pipe on.
func TestAttachedRunnerGetsThePipe(t *testing.T) {
	boot, runner := bootDir(t, "", `
import os, sys
option, caller = sys.argv[-2:]
print(option, os.read(int(caller), 9), repr(sys.stdin.read()), os.get_inheritable(int(caller)))
`)
	if out, err := python(t, "a", boot, runner); err != nil || out != "--caller b'' '' False\n" {
		t.Errorf("attached: %q, %v", out, err)
	}
	if out, err := python(t, "a\n", boot, runner); err != nil || out != "--caller b'\\n' '' False\n" {
		t.Errorf("let go: %q, %v", out, err)
	}
}

func TestOldPython(t *testing.T) {
	boot, runner := bootDir(t, "import sys\nsys.version_info = (3, 8, 1)\n", "this is no Python 3.8")
	out, err := python(t, "\n", boot, runner)
	if err == nil || !strings.Contains(out, "is Python 3.8, the runner needs 3.9 or newer: activate") || strings.Count(out, "\n") != 1 {
		t.Errorf("got %q, %v, want one line that says what is needed", out, err)
	}
}
