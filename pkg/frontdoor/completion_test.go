package frontdoor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompletesCommands(t *testing.T) {
	const (
		run  = "run\tRun a Python function, script, module or any command as a job\n"
		jobs = "jobs\tList, follow, cancel and clean up jobs, and fetch their results\n"
	)
	tests := map[string]struct {
		words []string
		want  string
	}{
		"a prefix":                         {[]string{"r"}, run + ":4\n"},
		"a whole word":                     {[]string{"jobs"}, jobs + ":4\n"},
		"no command begins so":             {[]string{"x"}, ":4\n"},
		"a flag before the command":        {[]string{"--con"}, ":4\n"},
		"what help takes":                  {[]string{"help", "j"}, jobs + ":4\n"},
		"nothing after help of a command":  {[]string{"help", "jobs", ""}, ":4\n"},
		"nothing after an unknown command": {[]string{"rnu", ""}, ":4\n"},
		"nothing after version":            {[]string{"version", ""}, ":4\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := answer(t, append([]string{"kubectl_complete-kinetic"}, tt.words...)...)
			if diff := cmp.Diff(outcome{Stdout: tt.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompletesEveryCommandFromNothing(t *testing.T) {
	for name, words := range map[string][]string{"no word": nil, "an empty word": {""}} {
		t.Run(name, func(t *testing.T) {
			got := answer(t, append([]string{"kubectl_complete-kinetic"}, words...)...)
			var first []string
			for line := range strings.Lines(got.Stdout) {
				word, _, _ := strings.Cut(line, "\t")
				first = append(first, word)
			}
			if diff := cmp.Diff([]string{"run", "jobs", "version", "help", "completion", ":4\n"}, first); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompletionGuideNamesThisInstallation(t *testing.T) {
	store, bin := t.TempDir(), t.TempDir()
	writeProgram(t, filepath.Join(store, "kubectl-kinetic"), 0o755)

	t.Setenv("PATH", t.TempDir())
	got := answerIn(store, "kubectl-kinetic", "completion")
	if line := "ln -sf kubectl-kinetic " + store + "/kubectl_complete-kinetic\n"; !strings.Contains(got.Stdout, line) {
		t.Errorf("not on PATH: %q does not contain %q", got.Stdout, line)
	}
	if err := os.Symlink(filepath.Join(store, "kubectl-kinetic"), filepath.Join(bin, "kubectl-kinetic")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	got = answerIn(store, "kubectl-kinetic", "completion")
	if line := "ln -sf kubectl-kinetic " + bin + "/kubectl_complete-kinetic\n"; !strings.Contains(got.Stdout, line) {
		t.Errorf("linked on PATH: %q does not contain %q", got.Stdout, line)
	}
}

func TestCompletionGuideFitsTheShell(t *testing.T) {
	tests := map[string]struct{ folder, goos, want string }{
		"a plain path":           {"/home/me/.krew/bin", "linux", "ln -sf kubectl-kinetic /home/me/.krew/bin/kubectl_complete-kinetic\n"},
		"a path with a space":    {"/Users/A B/bin", "darwin", "ln -sf kubectl-kinetic '/Users/A B/bin/kubectl_complete-kinetic'\n"},
		"a path with a quote":    {"/o'neill", "linux", `ln -sf kubectl-kinetic '/o'\''neill/kubectl_complete-kinetic'` + "\n"},
		"a path a shell expands": {"/$HOME", "linux", "ln -sf kubectl-kinetic '/$HOME/kubectl_complete-kinetic'\n"},
		"windows":                {"/bin", "windows", `mklink "/bin/kubectl_complete-kinetic.exe" kubectl-kinetic.exe` + "\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := completionGuide(tt.folder, tt.goos); !strings.Contains(got, "     "+tt.want) {
				t.Errorf("%q does not contain %q", got, tt.want)
			}
		})
	}
}
