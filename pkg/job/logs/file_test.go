package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// patience is how long a test waits for something that must happen: only a failing test
// takes that long.
const patience = 20 * time.Second

// lineSink lets a test wait for text to arrive.
type lineSink struct {
	arrived chan string
	got     strings.Builder
}

func newLineSink() *lineSink { return &lineSink{arrived: make(chan string, 1<<16)} }

func (s *lineSink) Write(p []byte) (int, error) {
	s.arrived <- string(p)
	return len(p), nil
}

// until reads what arrives until it ends with text.
func (s *lineSink) until(t *testing.T, text string) {
	t.Helper()
	timeout := time.After(patience)
	for !strings.HasSuffix(s.got.String(), text) {
		select {
		case p := <-s.arrived:
			s.got.WriteString(p)
		case <-timeout:
			t.Fatalf("%q did not arrive; there was %q", text, clip(s.got.String()))
		}
	}
}

// rest returns all that arrived, once the writer is done.
func (s *lineSink) rest() string {
	close(s.arrived)
	for p := range s.arrived {
		s.got.WriteString(p)
	}
	return s.got.String()
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFile(t *testing.T) {
	tests := map[string]struct {
		content string
		o       Options
		want    string
	}{
		"all":                            {stamped("a\nb\nc\n"), Options{Tail: -1}, "a\nb\nc\n"},
		"no final newline":               {stamped("a\nb"), Options{Tail: -1}, "a\nb"},
		"tail":                           {stamped("a\nb\nc\n"), Options{Tail: 2}, "b\nc\n"},
		"tail with an unfinished line":   {stamped("a\nb\nc"), Options{Tail: 2}, "b\nc"},
		"tail of more than all":          {stamped("a\nb\n"), Options{Tail: 9}, "a\nb\n"},
		"tail of all":                    {stamped("a\nb\n"), Options{Tail: 2}, "a\nb\n"},
		"tail of nothing":                {stamped("a\nb"), Options{Tail: 0}, ""},
		"tail and since":                 {stamped("a\nb\nc\n"), Options{Tail: 2, Since: begin.Add(2 * time.Second)}, "c\n"},
		"tail of a large file":           {stamped(numbered(1, 30000)), Options{Tail: 20000}, numbered(10001, 30000)},
		"tail of one large line":         {stamped("a\n" + strings.Repeat("x", 3*bufferSize)), Options{Tail: 1}, strings.Repeat("x", 3*bufferSize)},
		"tail behind a large line":       {stamped(strings.Repeat("x", 3*bufferSize) + "\nb\n"), Options{Tail: 1}, "b\n"},
		"an empty file":                  {"", Options{Tail: 5}, ""},
		"host and attempt mean nothing":  {stamped("a\n"), Options{Tail: -1, Host: 3, Attempt: 7}, "a\n"},
		"follow after the end":           {stamped("a\nb\nc\n"), Options{Tail: -1, Follow: true}, "a\nb\nc\n"},
		"follow the tail after the end":  {stamped("a\nb\nc"), Options{Tail: 1, Follow: true}, "c"},
		"follow nothing, unfinished too": {stamped("a\nb"), Options{Tail: 0, Follow: true}, "b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			appendTo(t, path, tt.content)
			ended := make(chan struct{})
			close(ended)
			var out bytes.Buffer
			if err := File(t.Context(), path, ended, tt.o, display.Both(&out)); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != tt.want {
				t.Errorf("got %q, want %q", clip(got), clip(tt.want))
			}
		})
	}
}

func TestFileThatDoesNotExist(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	for _, follow := range []bool{false, true} {
		var out bytes.Buffer
		err := File(t.Context(), filepath.Join(t.TempDir(), "log"), ended, Options{Tail: -1, Follow: follow}, display.Both(&out))
		if err != nil || out.Len() > 0 {
			t.Errorf("follow %v: got %q, %v, want nothing", follow, out.String(), err)
		}
	}
}

func TestFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if err := File(t.Context(), dir, nil, Options{Tail: -1}, display.Both(&bytes.Buffer{})); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v, want an error that names %s", err, dir)
	}
}

// follow follows path in the background; the function waits for its end.
func follow(t *testing.T, path string, o Options) (sink *lineSink, end func() string) {
	t.Helper()
	sink = newLineSink()
	ended, failure := make(chan struct{}), make(chan error, 1)
	o.Follow = true
	go func() { failure <- File(t.Context(), path, ended, o, display.Both(sink)) }()
	return sink, func() string {
		close(ended)
		if err := <-failure; err != nil {
			t.Fatal(err)
		}
		return sink.rest()
	}
}

func TestFollow(t *testing.T) {
	tests := map[string]struct {
		before string // "" is no file
		tail   int
		want   string
	}{
		"from before the beginning":         {"", -1, numbered(1, 2000)},
		"from the middle":                   {numbered(-9, 0), -1, numbered(-9, 2000)},
		"the tail from the middle":          {numbered(-9, 0), 3, numbered(-2, 2000)},
		"what is new, from within a line":   {numbered(-9, 0) + "li", 0, "li" + numbered(1, 2000)},
		"the tail from the middle of lines": {numbered(-9, 0) + "li", 2, "line 0\nli" + numbered(1, 2000)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			before := stamped(tt.before)
			if before != "" {
				appendTo(t, path, before)
			}
			sink, end := follow(t, path, Options{Tail: tt.tail})
			sink.until(t, strings.TrimSuffix(tt.want, numbered(1, 2000))) // the follower has begun
			rest := strings.TrimPrefix(stamped(tt.before+numbered(1, 2000)), before)
			for len(rest) > 0 { // in pieces that cut stamps and lines
				n := min(len(rest), 997)
				appendTo(t, path, rest[:n])
				rest = rest[n:]
			}
			if got := end(); got != tt.want {
				t.Errorf("got %q, want %q", clip(got), clip(tt.want))
			}
		})
	}
}

// All of a file that is created later is new.
func TestTailOfAFileThatComesLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var out bytes.Buffer
	f := &file{path: path, decoder: NewDecoder(display.Both(&out), Options{}), tail: 1}
	defer f.close()
	for _, text := range []string{"", "a\nb\n", "c\n"} {
		if text != "" {
			appendTo(t, path, stamped(text))
		}
		if err := f.copy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); got != "a\nb\nc\n" {
		t.Errorf("got %q, want all lines", got)
	}
}

func TestFollowShowsUnfinishedLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	sink, end := follow(t, path, Options{Tail: -1})
	appendTo(t, path, stamped("10%"))
	sink.until(t, "10%")
	appendTo(t, path, "\r20%")
	sink.until(t, "\r20%")
	if got := end(); got != "10%\r20%" {
		t.Errorf("got %q", got)
	}
}

func TestFollowReadsWhatWasWrittenBeforeTheEnd(t *testing.T) {
	for n := range 100 {
		path := filepath.Join(t.TempDir(), "log")
		_, end := follow(t, path, Options{Tail: -1})
		want := fmt.Sprintf("line %d\n", n)
		appendTo(t, path, stamped(want))
		if got := end(); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sink, failure := newLineSink(), make(chan error, 1)
	path := filepath.Join(t.TempDir(), "log")
	appendTo(t, path, stamped("a\n"))
	go func() { failure <- File(ctx, path, nil, Options{Tail: -1, Follow: true}, display.Both(sink)) }()
	sink.until(t, "a\n")
	cancel()
	if err := <-failure; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestManyLinesInConstantMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	block := []byte(stamped(numbered(1, 1000)))
	for range 100 {
		if _, err := f.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	close(ended)
	for tail, want := range map[int]int{-1: 100_000, 99_999: 99_999} {
		sink := &discard{}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := File(t.Context(), path, ended, Options{Tail: tail, Follow: true}, display.Both(sink)); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if sink.lines != want {
			t.Errorf("tail %d: got %d lines, want %d", tail, sink.lines, want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 { // an allocation for each line would be more
			t.Errorf("tail %d: allocated %d bytes in all, want 2 MiB at most", tail, used)
		}
	}
}

// discard counts what it is given; unlike io.Discard it has no shortcuts.
type discard struct{ bytes, lines int }

func (d *discard) Write(p []byte) (int, error) {
	d.bytes += len(p)
	d.lines += bytes.Count(p, []byte{'\n'})
	return len(p), nil
}
