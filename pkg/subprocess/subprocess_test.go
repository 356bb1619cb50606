//go:build !windows

package subprocess

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	t.Parallel()
	output, err := Run(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", "pwd; echo $A >&2; cat; exit 3"}, Dir: "/", Environ: []string{"A=b"}})
	var exit *exec.ExitError
	if output != "/\nb\n" || !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("got %q, %v", output, err)
	}
}

func TestRunKeepsTheEnd(t *testing.T) {
	t.Parallel()
	output, err := Run(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", "yes | head -c 1000000; echo end"}})
	if err != nil || len(output) > mostKept || !strings.HasSuffix(output, "y\nend\n") {
		t.Errorf("got %d bytes, %v", len(output), err)
	}
}

// A child that goes on is not waited for.
func TestRunEndsWithTheProgram(t *testing.T) {
	t.Parallel()
	output, err := Run(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", "sleep 5 & echo done"}})
	if err != nil || output != "done\n" {
		t.Errorf("got %q, %v", output, err)
	}
}

func TestRunIsKilled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Command{Path: "/bin/sh", Args: []string{"-c", "sleep 1000"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestLastLines(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "a", "a\n\nb \r\nc\n\n": "b\nc"} {
		if got := LastLines(text, 2); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
