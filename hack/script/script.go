// Package script has the words that the command scripts of this repository use
// in addition to those of testscript.
package script

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// Words are the commands of this package, by name.
func Words() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "eventually": eventually, "events": events, "lines": lines}
}

// exits N COMMAND…: runs a command and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// A command that is waited for is run again and again, for longer than any slow machine needs: soon at first, then
// seldom, since to start a command takes the processor's time from what it waits for.
const (
	patience      = 2 * time.Minute
	shortestPause = 50 * time.Millisecond
	longestPause  = 500 * time.Millisecond
)

// eventually TEXT COMMAND…: repeats a command until it prints the text on its
// standard output.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually TEXT COMMAND…")
	}
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(min(max(time.Since(begin)/4, shortestPause), longestPause)) {
		_ = ts.Exec(args[1], args[2:]...) // its exit code may be any until then
		if strings.Contains(ts.ReadFile("stdout"), args[0]) {
			return
		}
	}
	ts.Fatalf("never printed %q", args[0])
}

// lines N FILE: checks that a file is the numbers from 0 up to N-1, each once and
// in order.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines N FILE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := strings.Split(strings.TrimSuffix(ts.ReadFile(args[1]), "\n"), "\n")
	for i, line := range got {
		if line != strconv.Itoa(i) {
			ts.Fatalf("line %d is %q", i, line)
		}
	}
	if len(got) != n {
		ts.Fatalf("%d lines, want %d", len(got), n)
	}
}
