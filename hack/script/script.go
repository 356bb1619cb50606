// Package script has the words that the command scripts of this repository use
// besides those of testscript.
package script

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Words are the commands of this package, by name.
func Words() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "eventually": eventually, "lines": lines}
}

// exits N COMMAND…: runs a command and holds its exit code.
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

// repeats is how often a command is run to see something come.
const repeats = 300

// eventually TEXT COMMAND…: repeats a command until it prints the text on its
// standard output.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually TEXT COMMAND…")
	}
	for range repeats {
		_ = ts.Exec(args[1], args[2:]...) // its exit code may be any until then
		if strings.Contains(ts.ReadFile("stdout"), args[0]) {
			return
		}
	}
	ts.Fatalf("never printed %q", args[0])
}

// lines N FILE: holds that a file is the numbers from 0 up to N-1, each once and
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
