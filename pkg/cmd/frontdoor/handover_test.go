package frontdoor

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindsTheSiblingBeforePath(t *testing.T) {
	mine, path := t.TempDir(), t.TempDir()
	t.Setenv("PATH", path)
	writeProgram(t, filepath.Join(path, "kubectl-kinetic_run"), 0o755)

	if got := answerIn(mine, "kubectl-kinetic", "run"); got.Exec[0] != filepath.Join(path, "kubectl-kinetic_run") {
		t.Errorf("without a sibling it became %q, want the program on PATH", got.Exec)
	}
	writeProgram(t, filepath.Join(mine, "kubectl-kinetic_run"), 0o755)
	if got := answerIn(mine, "kubectl-kinetic", "run"); got.Exec[0] != "kubectl-kinetic_run" {
		t.Errorf("with a sibling it became %q, want the sibling", got.Exec)
	}
}

func TestReportsAMissingSibling(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", t.TempDir())
	got := answerIn(folder, "kubectl-kinetic", "jobs", "list")
	want := "error: kubectl-kinetic_jobs is missing: it is neither in " + folder + " nor on PATH; " + fix + "\n"
	if got.Code != 1 || got.Stdout != "" || got.Stderr != want {
		t.Errorf("got %+v, want exit code 1 and %q", got, want)
	}
}

// A copy for completion is alone in its folder, as on Windows.
func TestFindsTheSiblingOfThePlugin(t *testing.T) {
	store, bin, copied := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin)
	for _, name := range []string{"kubectl-kinetic", "kubectl-kinetic_jobs"} {
		writeProgram(t, filepath.Join(store, name), 0o755)
	}
	if err := os.Symlink(filepath.Join(store, "kubectl-kinetic"), filepath.Join(bin, "kubectl-kinetic")); err != nil {
		t.Fatal(err)
	}
	got := answerIn(copied, "kubectl_complete-kinetic", "jobs", "")
	if want := filepath.Join(store, "kubectl-kinetic_jobs"); len(got.Asked) == 0 || got.Asked[0] != want {
		t.Errorf("it asked %q, want %s", got.Asked, want)
	}
}

// A sibling that cannot run must not be replaced by one of another version.
func TestReportsASiblingThatCannotRun(t *testing.T) {
	folder, path := t.TempDir(), t.TempDir()
	t.Setenv("PATH", path)
	writeProgram(t, filepath.Join(path, "kubectl-kinetic_run"), 0o755)
	sibling := filepath.Join(folder, "kubectl-kinetic_run")
	writeProgram(t, sibling, 0o644)

	got := answerIn(folder, "kubectl-kinetic", "run")
	want := "error: " + sibling + " cannot be run: permission denied; " + fix + "\n"
	if got.Code != 1 || got.Exec != nil || got.Stderr != want {
		t.Errorf("got %+v, want exit code 1 and %q", got, want)
	}
}

func TestReportsASiblingThatDoesNotStart(t *testing.T) {
	folder := t.TempDir()
	sibling := filepath.Join(folder, "kubectl-kinetic_run")
	writeProgram(t, sibling, 0o755)
	var stderr bytes.Buffer
	p := Process{Args: []string{"kubectl-kinetic", "run"}, Executable: filepath.Join(folder, "kubectl-kinetic"), Stderr: &stderr,
		Exec: func(string, []string) (int, error) { return 0, errors.New("exec format error") }}
	if code := p.Run(); code != 1 || !strings.HasPrefix(stderr.String(), "error: starting "+sibling+": exec format error; ") {
		t.Errorf("exit code %d, stderr %q", code, stderr.String())
	}
}
