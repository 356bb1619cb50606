package frontdoor

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
)

// outcome is everything the front door does that someone else can see.
type outcome struct {
	Code           int
	Stdout, Stderr string
	Exec           []string // the command line it became, folder of the binary cut off
	Asked          []string // the same of the program that it ran
}

// siblingSaid is what a sibling prints when it is asked.
const siblingSaid = "word\tmeans this\n:4\n"

// answer runs one command line with all siblings installed.
func answer(t *testing.T, argv ...string) outcome {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"kubectl-kinetic", "kubectl-kinetic_run", "kubectl-kinetic_jobs", "kubectl-kinetic_pool"} {
		writeProgram(t, filepath.Join(folder, name), 0o755)
	}
	t.Setenv("PATH", t.TempDir())
	return answerIn(folder, argv...)
}

func answerIn(folder string, argv ...string) outcome {
	var stdout, stderr bytes.Buffer
	var got outcome
	p := Process{
		Args: argv, Executable: filepath.Join(folder, "kubectl-kinetic"), Stdout: &stdout, Stderr: &stderr, Symlink: os.Symlink,
		Exec: func(path string, argv []string) (int, error) {
			got.Exec = append([]string{strings.TrimPrefix(path, folder+"/")}, argv[1:]...)
			return 7, nil
		},
		Output: func(path string, args []string) (Answer, error) {
			got.Asked = append([]string{strings.TrimPrefix(path, folder+"/")}, args...)
			return Answer{Stdout: siblingSaid, Stderr: "Completion ended\n"}, nil
		},
	}
	got.Code = p.Run()
	got.Stdout, got.Stderr = stdout.String(), stderr.String()
	return got
}

func writeProgram(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
		t.Fatal(err)
	}
}

func TestHandsOver(t *testing.T) {
	tests := map[string]struct{ argv, want []string }{
		"run with its arguments untouched": {
			[]string{"/b/kubectl-kinetic", "run", "./my-train.py:f", "--arg=a b", "-n", "ml", "--", "-h", ""},
			[]string{"kubectl-kinetic_run", "./my-train.py:f", "--arg=a b", "-n", "ml", "--", "-h", ""},
		},
		"run without arguments":       {[]string{"kubectl-kinetic", "run"}, []string{"kubectl-kinetic_run"}},
		"jobs":                        {[]string{"kubectl-kinetic", "jobs", "logs", "x"}, []string{"kubectl-kinetic_jobs", "logs", "x"}},
		"a second command":            {[]string{"kubectl-kinetic", "build-image", "--yes"}, []string{"kubectl-kinetic_run", "build-image", "--yes"}},
		"pool":                        {[]string{"kubectl-kinetic", "pool", "list"}, []string{"kubectl-kinetic_pool", "list"}},
		"config":                      {[]string{"kubectl-kinetic", "config", "show"}, []string{"kubectl-kinetic_pool", "config", "show"}},
		"help of a second command":    {[]string{"kubectl-kinetic", "help", "build-image"}, []string{"kubectl-kinetic_run", "build-image", "--help"}},
		"--help after the command":    {[]string{"kubectl-kinetic", "run", "--help"}, []string{"kubectl-kinetic_run", "--help"}},
		"help of a command":           {[]string{"kubectl-kinetic", "help", "run"}, []string{"kubectl-kinetic_run", "--help"}},
		"top":                         {[]string{"kubectl-kinetic", "top", "--mine"}, []string{"kubectl-kinetic_jobs", "top", "--mine"}},
		"help of a command's command": {[]string{"kubectl-kinetic", "help", "jobs", "logs"}, []string{"kubectl-kinetic_jobs", "logs", "--help"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := answer(t, tt.argv...)
			if diff := cmp.Diff(outcome{Code: 7, Exec: tt.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestListsCommands(t *testing.T) {
	for name, args := range map[string][]string{
		"no word": nil, "-h": {"-h"}, "--help": {"--help"}, "help": {"help"},
	} {
		t.Run(name, func(t *testing.T) {
			got := answer(t, append([]string{"kubectl-kinetic"}, args...)...)
			for line := range strings.Lines(got.Stdout) {
				if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 {
					t.Errorf("does not fit 80 columns: %q", line)
				}
			}
			golden.Check(t, filepath.Join("testdata", "overview.golden"), got.Stdout)
			got.Stdout = ""
			if diff := cmp.Diff(outcome{}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestVersionAsAFlag: as other programs have it, also below `python -m kinetic`.
func TestVersionAsAFlag(t *testing.T) {
	want := answer(t, "kubectl-kinetic", "version", "--client")
	if diff := cmp.Diff(want, answer(t, "kubectl-kinetic", "--version")); diff != "" || want.Code != exitOK || want.Stdout == "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRejects(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"a typing mistake":       {[]string{"rnu"}, `unknown command "rnu" for "kubectl kinetic"; did you mean "run"?`},
		"help for one":           {[]string{"help", "job"}, `unknown command "job" for "kubectl kinetic"; did you mean "jobs"?`},
		"a command of jobs":      {[]string{"logs", "x"}, `unknown command "logs" for "kubectl kinetic"; did you mean kubectl kinetic jobs logs?`},
		"almost one":             {[]string{"cancle", "x"}, `unknown command "cancle" for "kubectl kinetic"; did you mean kubectl kinetic jobs cancel?`},
		"a word like no command": {[]string{"zzz"}, `unknown command "zzz" for "kubectl kinetic"; "kubectl kinetic help" lists the commands`},
		"a command to come":      {[]string{"later", "list"}, `unknown command "later" for "kubectl kinetic"; "kubectl kinetic help" lists the commands`},
		"a path":                 {[]string{"../run"}, `unknown command "../run" for "kubectl kinetic"; "kubectl kinetic help" lists the commands`},
		"the empty word":         {[]string{""}, `unknown command "" for "kubectl kinetic"; "kubectl kinetic help" lists the commands`},
		"flags before the command": {[]string{"--context=c", "run", "train.py"},
			`flags go after the command: kubectl kinetic COMMAND --context=c`},
		"a profile before the command": {[]string{"--profile", "ml", "jobs", "list"},
			`flags go after the command: kubectl kinetic jobs list --profile ml`},
		"a profile before a program's arguments": {[]string{"--profile", "ml", "run", "train.py", "--", "--epochs", "3"},
			`flags go after the command: kubectl kinetic run train.py --profile ml -- --epochs 3`},
		"a profile alone":               {[]string{"--profile=ml"}, `flags go after the command: kubectl kinetic COMMAND --profile ml`},
		"a command written as a flag":   {[]string{"--doctor"}, `"doctor" is a command: kubectl kinetic doctor`},
		"a format version lacks":        {[]string{"version", "-o", "name"}, `version: -o "name": expected json or yaml`},
		"a format version is not given": {[]string{"version", "-o"}, `version: -o: expected json or yaml after it`},
		"--client that is no bool":      {[]string{"version", "--client=x"}, `version: --client "x": expected true or false`},
		"--version with a cluster":      {[]string{"--version", "--events", "json"}, "--version doesn't contact a cluster: omit --events, or type `kubectl kinetic version`"},
		"--client with a cluster":       {[]string{"version", "--client", "--context=c"}, `version: --client doesn't contact a cluster: omit it, or --context=c`},
		"a word after version":          {[]string{"version", "run"}, `version takes no argument, got "run"`},
		"a shell after completion": {[]string{"completion", "bash"},
			`completion "bash": expected install or no argument; for the shell's script, use kubectl's own (kubectl completion bash)`},
		"a flag install lacks": {[]string{"completion", "install", "--force"},
			`completion install: flag provided but not defined: --force; the flags are --dir DIR and --dry-run`},
		"a letter install lacks": {[]string{"completion", "install", "-d"},
			`completion install: flag provided but not defined: -d; the flags are --dir DIR and --dry-run`},
		"a directory that is not given": {[]string{"completion", "install", "--dir"},
			`completion install: flag needs an argument: --dir; the flags are --dir DIR and --dry-run`},
		"--dry-run that is no bool": {[]string{"completion", "install", "--dry-run=for -x"},
			`completion install: invalid boolean value "for -x" for --dry-run: parse error; the flags are --dir DIR and --dry-run`},
		"no flag at all": {[]string{"completion", "install", "--=x"},
			`completion install: bad flag syntax: --=x; the flags are --dir DIR and --dry-run`},
		"a word after install": {[]string{"completion", "install", "bash"},
			`completion install takes no argument, got "bash"; for a directory use --dir`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := answer(t, append([]string{"kubectl-kinetic"}, tt.args...)...)
			if diff := cmp.Diff(outcome{Code: 2, Stderr: "error: " + tt.want + "\n"}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReportsABrokenPipe(t *testing.T) {
	var stderr bytes.Buffer
	p := Process{Args: []string{"kubectl-kinetic", "version", "--client"}, Stdout: brokenPipe{}, Stderr: &stderr}
	if code := p.Run(); code != 1 || stderr.String() != "error: writing standard output: nobody reads\n" {
		t.Errorf("exit code %d, stderr %q", code, stderr.String())
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }
