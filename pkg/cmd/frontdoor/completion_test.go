package frontdoor

import (
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
		"nothing after help of a command":  {[]string{"help", "jobs", "status", ""}, ":4\n"},
		"nothing after an unknown command": {[]string{"rnu", ""}, ":4\n"},
		"the flag of version --client":     {[]string{"version", "--client", ""}, "-o\tOutput FORMAT: json or yaml\n:4\n"},
		"the format of version --client":   {[]string{"version", "--client", "-o", "j"}, "json\n:4\n"},
		"nothing after that":               {[]string{"version", "--client", "-o", "json", ""}, ":4\n"},
		"a command of jobs after help":     {[]string{"help", "jobs", "stat"}, "status\n:4\n"},
		"nothing after help of run":        {[]string{"help", "run", ""}, ":4\n"},
		"what completion takes":            {[]string{"completion", ""}, "install\tPut the file that kubectl needs in place\n:4\n"},
		"a flag of completion install":     {[]string{"completion", "install", "--dr"}, "--dry-run\tOnly print what would be done\n:4\n"},
		"its directory":                    {[]string{"completion", "install", "--dir", "x"}, ":16\n"},
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

func TestCompletesWithTheSibling(t *testing.T) {
	const client = "--client\tOnly this plugin, without the cluster\n"
	for name, tt := range map[string]struct {
		argv, want []string
		before     string // the answer of the sibling
	}{
		"the first flag of version": {
			[]string{"kubectl_complete-kinetic", "version", ""},
			[]string{"kubectl-kinetic_jobs", "__complete", "version", ""},
			client + "-o\tOutput FORMAT: json or yaml\n",
		},
		"a flag of version": {
			[]string{"kubectl_complete-kinetic", "version", "-n", "ml", "--c"},
			[]string{"kubectl-kinetic_jobs", "__complete", "version", "-n", "ml", "--c"},
			client,
		},
		"the value of such a flag": {
			[]string{"kubectl_complete-kinetic", "version", "--context", ""},
			[]string{"kubectl-kinetic_jobs", "__complete", "version", "--context", ""},
			"",
		},
		"a command": {
			[]string{"/b/kubectl_complete-kinetic", "jobs", "ta"},
			[]string{"kubectl-kinetic_jobs", "__complete", "ta"},
			"",
		},
		"a second command of a program": {
			[]string{"kubectl_complete-kinetic", "build-image", "--ca"},
			[]string{"kubectl-kinetic_run", "__complete", "build-image", "--ca"},
			"",
		},
		"after a flag": {
			[]string{"kubectl_complete-kinetic.exe", "run", "-a", "tpu", ""},
			[]string{"kubectl-kinetic_run", "__complete", "-a", "tpu", ""},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := answer(t, tt.argv...)
			if diff := cmp.Diff(outcome{Stdout: tt.before + siblingSaid, Asked: tt.want}, got); diff != "" {
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
			if diff := cmp.Diff([]string{"run", "jobs", "top", "pool", "accelerators", "up", "down", "status", "init", "doctor", "config", "profile", "build-image", "version", "help", "completion", ":4\n"}, first); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompletionNeverFails(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for name, words := range map[string][]string{
		"a command whose program is missing": {"jobs", "status", ""},
		"its flags":                          {"run", "--acc"},
		"a flag before the command":          {"--context", "x", ""},
		"no command":                         {"rnu", "x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := answerIn(t.TempDir(), append([]string{"kubectl_complete-kinetic"}, words...)...)
			if diff := cmp.Diff(outcome{Stdout: ":4\n"}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompletionGuideIsForAllShells(t *testing.T) {
	got := answer(t, "kubectl-kinetic", "completion")
	for _, want := range []string{"completion bash", "completion zsh", "completion fish", "completion powershell", "     kubectl kinetic completion install\n"} {
		if !strings.Contains(got.Stdout, want) {
			t.Errorf("%q does not contain %q", got.Stdout, want)
		}
	}
}
