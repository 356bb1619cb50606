//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sibling says who it is, what it got and whether it is still the process that
// was started, and exits with a code of its own.
const sibling = `#!/bin/sh
echo "$(basename "$0")" "$# arguments:" "$@"
[ "$$" = "$(cat "$PID_FILE" 2>/dev/null)" ] && echo same process
exit 7
`

// asFrontDoor makes the test binary the front door: it is what gets installed.
const asFrontDoor = "KINETIC_TEST_AS_FRONT_DOOR"

func TestMain(m *testing.M) {
	if os.Getenv(asFrontDoor) != "" {
		main()
	}
	os.Exit(m.Run())
}

// install lays the front door out as krew does: all binaries in a store folder,
// and links to the front door alone in a folder on PATH.
func install(t *testing.T) (bin string) {
	t.Helper()
	store, bin := t.TempDir(), t.TempDir()
	door := filepath.Join(store, "kubectl-kinetic")
	copyOfThis(t, door)
	t.Setenv(asFrontDoor, "1")
	for _, name := range []string{"kubectl-kinetic_run", "kubectl-kinetic_jobs"} {
		if err := os.WriteFile(filepath.Join(store, name), []byte(sibling), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"kubectl-kinetic": door, "kubectl_complete-kinetic": "kubectl-kinetic"} {
		if err := os.Symlink(target, filepath.Join(bin, link)); err != nil {
			t.Fatal(err)
		}
	}
	// A second kubectl-kinetic on PATH is what `kubectl plugin list` warns of.
	dirs := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "kubectl-kinetic"))
		return err == nil
	})
	t.Setenv("PATH", strings.Join(append([]string{bin}, dirs...), ":"))
	t.Setenv("HOME", t.TempDir())
	return bin
}

func copyOfThis(t *testing.T, path string) {
	t.Helper()
	this, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(this)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
}

// output runs a command line and returns what it printed and its exit code.
func output(t *testing.T, argv ...string) (stdout string, code int) {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		code = exit.ExitCode()
	}
	return string(out), code
}

func TestInstalledAsKrewDoes(t *testing.T) {
	bin := install(t)
	tests := map[string]struct {
		argv []string
		want string
		code int
	}{
		"the sibling gets the arguments as they were": {
			[]string{"kubectl-kinetic", "run", "./my-train.py", "--flag=a-b", "x y"},
			"kubectl-kinetic_run 3 arguments: ./my-train.py --flag=a-b x y\n", 7},
		"by its full name": {
			[]string{filepath.Join(bin, "kubectl-kinetic"), "jobs"},
			"kubectl-kinetic_jobs 0 arguments:\n", 7},
		"completion of a command's words": {
			[]string{"kubectl_complete-kinetic", "jobs", "ta"},
			"kubectl-kinetic_jobs 2 arguments: __complete ta\n", 7},
		"completion of the command": {
			[]string{"kubectl_complete-kinetic", "jo"},
			"jobs\tList, follow, cancel and clean up jobs, and fetch their results\n:4\n", 0},
		"an unknown command": {[]string{"kubectl-kinetic", "rnu"}, "", 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, code := output(t, tt.argv...)
			if diff := cmp.Diff(tt.want, got); diff != "" || code != tt.code {
				t.Errorf("exit code %d, want %d; output (-want +got):\n%s", code, tt.code, diff)
			}
		})
	}
}

// A signal sent to what the user started must reach the command itself.
func TestBecomesTheSibling(t *testing.T) {
	install(t)
	pidFile := filepath.Join(t.TempDir(), "pid")
	t.Setenv("PID_FILE", pidFile)
	got, _ := output(t, "sh", "-c", `echo $$ >"$PID_FILE"; exec kubectl-kinetic run`)
	if want := "kubectl-kinetic_run 0 arguments:\nsame process\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestThroughKubectl(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl on PATH")
	}
	bin := install(t)
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))

	got, code := output(t, "kubectl", "kinetic", "run", "./my-train.py", "-n", "ml", "--", "-x")
	if want := "kubectl-kinetic_run 5 arguments: ./my-train.py -n ml -- -x\n"; got != want || code != 7 {
		t.Errorf("kubectl kinetic run: exit code %d, output %q, want 7 and %q", code, got, want)
	}
	got, _ = output(t, "kubectl", "__complete", "kinetic", "jo")
	if want := "jobs\tList, follow, cancel and clean up jobs, and fetch their results\n:4\n"; got != want {
		t.Errorf("kubectl __complete: %q, want %q", got, want)
	}
	got, code = output(t, "kubectl", "plugin", "list", "--name-only")
	if code != 0 || strings.Count(got, "kinetic") != 1 {
		t.Errorf("kubectl plugin list: exit code %d, output %q, want one kinetic in %s and no warning", code, got, bin)
	}
}
