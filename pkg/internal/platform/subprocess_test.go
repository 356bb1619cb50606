//go:build !windows

package platform

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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
	pipe := fifo(t)
	held, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close() // which ends the child
	output, err := Run(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", `exec 3<"$0"; cat <&3 & echo done`, pipe}})
	if err != nil || output != "done\n" {
		t.Errorf("got %q, %v", output, err)
	}
}

// The end of the context kills the program's children, too.
func TestRunIsKilled(t *testing.T) {
	t.Parallel()
	pipe := fifo(t)
	held := make(chan error)
	go func() {
		_, err := os.ReadFile(pipe) // until the last writer is gone
		held <- err
	}()
	ctx, cancel := context.WithCancel(t.Context())
	child := `(echo started >&2; exec sleep 1000) >"$0" & wait`
	if _, err := Run(ctx, Command{Path: "/bin/sh", Args: []string{"-c", child, pipe}, Line: func(string) { cancel() }}); err == nil {
		t.Error("a program that was killed succeeded")
	}
	if err := <-held; err != nil {
		t.Error(err)
	}
}

// fifo makes a named pipe.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLastLines(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "a", "a\n\nb \r\nc\n\n": "b\nc"} {
		if got := LastLines(text, 2); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
