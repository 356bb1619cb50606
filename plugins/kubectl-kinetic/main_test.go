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
[ "$1" = __complete ] || exit 7
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
	for _, name := range []string{"kubectl-kinetic_run", "kubectl-kinetic_jobs", "kubectl-kinetic_pool"} {
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
			"kubectl-kinetic_jobs 2 arguments: __complete ta\n", 0},
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
	completion := filepath.Join(bin, "kubectl_complete-kinetic")
	if err := os.Remove(completion); err != nil {
		t.Fatal(err)
	}
	got, code = output(t, "kubectl", "kinetic", "completion", "install")
	if want := "linked " + completion + " to kubectl-kinetic\n"; !strings.HasPrefix(got, want) || code != 0 {
		t.Errorf("kubectl kinetic completion install: exit code %d, output %q, want %q", code, got, want)
	}
	got, _ = output(t, "kubectl", "__complete", "kinetic", "jo")
	if want := "jobs\tList, follow, cancel and clean up jobs, and fetch their results\n:4\n"; got != want {
		t.Errorf("kubectl __complete: %q, want %q", got, want)
	}
	if got := inBash(t, "kubectl kinetic comp"); got != "kubectl kinetic completion \n" {
		t.Errorf("a Tab in bash made it %q", got)
	}
	if got := inBash(t, "kubectl kinetic completion install --d"); got != "--dir\n--dry-run\n" {
		t.Errorf("a Tab in bash offered %q", got)
	}
	got, code = output(t, "kubectl", "plugin", "list", "--name-only")
	if code != 0 || strings.Count(got, "kinetic") != 1 {
		t.Errorf("kubectl plugin list: exit code %d, output %q, want one kinetic in %s and no warning", code, got, bin)
	}
}

// inBash returns what kubectl's script for bash makes of a command line on Tab: the whole
// line if one word fits, else the words, without their descriptions.
func inBash(t *testing.T, line string) string {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash on PATH")
	}
	got, _ := output(t, "bash", "--norc", "-c", `
_init_completion() { words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}; }
source <(kubectl completion bash)
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=63 COMP_WORDS=($1) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { space=$*; }
__start_kubectl
((${#COMPREPLY[@]} != 1)) || { echo "${1% *} $COMPREPLY${space:- }"; exit; }
printf '%s\n' "${COMPREPLY[@]%% *}"`, "bash", line)
	return got
}
