package platform

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Command is a program that is run.
type Command struct {
	Path    string
	Args    []string
	Dir     string
	Environ []string
	// Line gets each line that is printed; nil for nobody.
	Line func(line string)
}

// Run runs a program to its end, and returns the last 64 KiB of what it prints on both streams. It reads
// nothing. If the context ends, the program and all that it started are killed.
func Run(ctx context.Context, c Command) (output string, err error) {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	printed := Tail{line: c.Line}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Dir, c.Environ, &printed, &printed
	ownGroup(cmd)
	cmd.WaitDelay = time.Second // for a child of it that keeps its pipes open
	err = cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return printed.String(), err
}

// Tail keeps the last 64 KiB of what is written to it. The zero value is ready to use, by several goroutines.
type Tail struct {
	mu   sync.Mutex
	kept []byte
	line func(line string)
	last []byte // the beginning of a line whose end was not printed yet
}

// mostKept is how many bytes of the output are kept.
const mostKept = 64 << 10

// Write implements io.Writer. It never fails.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if len(t.kept) > 2*mostKept {
		t.kept = bytes.Clone(t.kept[len(t.kept)-mostKept:])
	}
	t.tell(b)
	return len(b), nil
}

// tell passes on the lines that end in what was printed.
func (t *Tail) tell(b []byte) {
	if t.line == nil {
		return
	}
	for {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		if t.last = append(t.last, line[:min(len(line), mostKept-len(t.last))]...); !ended {
			return
		}
		t.line(string(t.last))
		t.last, b = t.last[:0], rest
	}
}

// String returns what was kept, in valid UTF-8.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.kept[max(0, len(t.kept)-mostKept):]), "\ufffd")
}

// LastLines returns the last lines of a text that are not empty.
func LastLines(text string, most int) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
