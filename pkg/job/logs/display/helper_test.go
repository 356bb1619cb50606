package display

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// record is text of one of the streams.
type record struct {
	stream Stream
	text   string
}

func out(text string) record { return record{Stdout, text} }

func errOut(text string) record { return record{Stderr, text} }

// writeRecords writes records to their streams, in pieces of the given size.
func writeRecords(t testing.TB, w Streams, size int, records ...record) {
	t.Helper()
	for _, r := range records {
		writeIn(t, [2]io.Writer{Stdout: w.Out, Stderr: w.Err}[r.stream], r.text, size)
	}
}

// writeIn writes in in pieces of the given size.
func writeIn(t testing.TB, w io.Writer, in string, size int) {
	t.Helper()
	for len(in) > 0 {
		n := min(size, len(in))
		if got, err := io.WriteString(w, in[:n]); err != nil || got != n {
			t.Fatalf("Write of %d bytes: %d, %v", n, got, err)
		}
		in = in[n:]
	}
}

// numbered is the text of the lines from..to, numbered.
func numbered(from, to int) string {
	var b strings.Builder
	for n := from; n <= to; n++ {
		fmt.Fprintf(&b, "line %d\n", n)
	}
	return b.String()
}

func clip(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("%s ... (%d bytes) ... %s", s[:100], len(s), s[len(s)-100:])
	}
	return s
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWritersReportABrokenPipe(t *testing.T) {
	for name, w := range map[string]io.Writer{
		"plain": NewPlain(brokenWriter{}), "terminal": NewTerminal(brokenWriter{}),
		"multiplexer": NewMultiplexer(Both(brokenWriter{}), "host", View{}, View{}).Host(0).Out,
	} {
		if _, err := io.WriteString(w, "a\n"); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: got %v, want %v", name, err, io.ErrClosedPipe)
		}
	}
}
