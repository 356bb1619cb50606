package frontdoor

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// script writes a program, which sh runs.
func script(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	for name, tt := range map[string]struct {
		text string
		want Answer
	}{
		"both streams and the code": {"echo \"$1\"; echo warning >&2; exit 3\n", Answer{"word\n", "warning\n", 3}},
		// The program exits with its own code, although the other is killed.
		"a program that it leaves": {"sleep 600 >/dev/null &\necho \"$1\"\n", Answer{"word\n", "", 0}},
	} {
		t.Run(name, func(t *testing.T) {
			script(t, path, tt.text)
			got, err := output(path, []string{"word"})
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	t.Run("no program", func(t *testing.T) {
		if got, err := output(filepath.Join(t.TempDir(), "none"), nil); err == nil {
			t.Errorf("got %+v", got)
		}
	})
}

// A signal reaches only this process: the other is in another session. It ends, too.
func TestVersionInterrupted(t *testing.T) {
	folder := t.TempDir()
	script(t, filepath.Join(folder, clusterBinary), "kill -TERM $PPID\nexec sleep 600\n")
	var stdout, stderr bytes.Buffer
	p := Process{Args: []string{"kubectl-kinetic", "version"}, Executable: filepath.Join(folder, "kubectl-kinetic"), Output: output,
		Stdout: &stdout, Stderr: &stderr}
	code := p.Run()
	got := outcome{Code: code, Stdout: stdout.String(), Stderr: stderr.String()}
	if diff := cmp.Diff(outcome{Code: 130, Stderr: "error: interrupted\n"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
