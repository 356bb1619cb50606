//go:build !windows

package platform

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

func TestLines(t *testing.T) {
	t.Parallel()
	var lines []string
	_, err := Run(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", "printf 'a\\nb'; sleep 0.01; printf 'c\\n\\nd'; yes | tr -d '\\n' | head -c 1000000; echo; echo e"},
		Line: func(line string) { lines = append(lines, line) }})
	if err != nil || len(lines) != 5 || strings.Join(lines[:3], "|") != "a|bc|" || len(lines[3]) != mostKept || lines[4] != "e" {
		t.Errorf("got %d lines, %v", len(lines), err)
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
