package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

var begin = time.Date(2026, 11, 20, 8, 20, 19, 123456000, time.UTC)

// stampOf returns the stamp of the n-th line: one line a second.
func stampOf(n int) string {
	return begin.Add(time.Duration(n) * time.Second).Format(StampLayout)
}

// stamped returns text as the runner stores it.
func stamped(text string) string {
	var b strings.Builder
	for n, line := range strings.SplitAfter(text, "\n") {
		if line != "" {
			b.WriteString(stampOf(n) + " " + line)
		}
	}
	return b.String()
}

// numbered returns the lines from..to, numbered.
func numbered(from, to int) string {
	var b strings.Builder
	for n := from; n <= to; n++ {
		fmt.Fprintf(&b, "line %d\n", n)
	}
	return b.String()
}

// decode writes in to a Decoder in pieces of the given size.
func decode(t testing.TB, in string, o Options, size int) string {
	t.Helper()
	var out bytes.Buffer
	writeIn(t, NewDecoder(display.Both(&out), o), in, size)
	return out.String()
}

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

func TestDecoder(t *testing.T) {
	long := strings.Repeat("x", 3*readSize)
	tests := map[string]struct {
		in   string
		o    Options
		want string
	}{
		"nothing":                        {"", Options{}, ""},
		"lines":                          {stamped("a\nb\n\nc\n"), Options{}, "a\nb\n\nc\n"},
		"no final newline":               {stamped("a\nb"), Options{}, "a\nb"},
		"any bytes":                      {stamped("\x00\xff\x1b[1m\r\n\xc3\n"), Options{}, "\x00\xff\x1b[1m\r\n\xc3\n"},
		"text like a stamp":              {stamped(stampOf(0) + " a\n"), Options{}, stampOf(0) + " a\n"},
		"no stamp":                       {"abc\n" + stamped("d\n"), Options{}, "abc\nd\n"},
		"almost a stamp":                 {stampOf(0) + "x\n2026\n" + stampOf(0)[:12] + "?\n", Options{}, stampOf(0) + "x\n2026\n" + stampOf(0)[:12] + "?\n"},
		"a torn stamp at the end":        {stamped("a\n") + stampOf(1)[:20], Options{}, "a\n"},
		"timestamps":                     {stamped("a\nb"), Options{Timestamps: true}, stampOf(0) + " a\n" + stampOf(1) + " b"},
		"timestamps of a progress bar":   {stamped("1%\r2%\r\n"), Options{Timestamps: true}, stampOf(0) + " 1%\r" + stampOf(0) + " 2%\r\n"},
		"since a line":                   {stamped("a\nb\nc\n"), Options{Since: begin.Add(time.Second)}, "b\nc\n"},
		"since after a line":             {stamped("a\nb\nc\n"), Options{Since: begin.Add(1001 * time.Millisecond)}, "c\n"},
		"since in another zone":          {stamped("a\nb\n"), Options{Since: begin.Add(time.Second).In(time.FixedZone("", 3600))}, "b\n"},
		"since after all":                {stamped("a\nb\n"), Options{Since: begin.Add(time.Hour)}, ""},
		"since begins in mid-line":       {"rest\n" + stamped("a\n"), Options{Since: begin}, "a\n"},
		"a long line":                    {stamped(long + "\r\nb\n"), Options{}, long + "\r\nb\n"},
		"a long line, and its timestamp": {stamped(long + "\nb\n"), Options{Timestamps: true}, stampOf(0) + " " + long + "\n" + stampOf(1) + " b\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1 << 30, 4096, 29, 7, 1} {
				if got := decode(t, tt.in, tt.o, size); got != tt.want {
					t.Errorf("in pieces of %d bytes: got %q, want %q", size, clip(got), clip(tt.want))
				}
			}
		})
	}
}

func clip(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("%s ... (%d bytes) ... %s", s[:100], len(s), s[len(s)-100:])
	}
	return s
}

func TestDecoderNextIgnoresALineThatIsNotShown(t *testing.T) {
	var out bytes.Buffer
	d := NewDecoder(display.Both(&out), Options{Since: begin.Add(time.Hour)})
	writeIn(t, d, stamped("a"), 1<<20)
	if err := d.Next(); err != nil || out.Len() > 0 {
		t.Errorf("got %q, %v, want nothing", out.String(), err)
	}
}

func TestDecoderNextEndsTheLine(t *testing.T) {
	tests := map[string]struct{ first, want string }{
		"a finished line":   {stamped("a\n"), "a\nb\n"},
		"an unfinished one": {stamped("a"), "a\nb\n"},
		"a torn stamp":      {stamped("a\n") + "2026-", "a\nb\n"},
		"an empty stream":   {"", "b\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			d := NewDecoder(display.Both(&out), Options{})
			writeIn(t, d, tt.first, 1<<20)
			if err := d.Next(); err != nil {
				t.Fatal(err)
			}
			writeIn(t, d, stamped("b\n"), 1<<20)
			if got := out.String(); got != tt.want {
				t.Errorf("got %q, want %q", clip(got), clip(tt.want))
			}
		})
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestDecoderReportsABrokenPipe(t *testing.T) {
	d := NewDecoder(display.Both(brokenWriter{}), Options{})
	if _, err := io.WriteString(d, stamped("a\n")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want %v", err, io.ErrClosedPipe)
	}
}

// FuzzDecoder checks that text that an older runner stamped, without marks, is decoded
// unchanged, and that the size of the pieces never matters.
func FuzzDecoder(f *testing.F) {
	f.Add("a\nb\r\n\r1%\r2%", uint8(3))
	f.Add(stamped("a\nb"), uint8(28))
	f.Add("\x00\xff\n"+stampOf(0), uint8(1))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		if got := decode(t, stamped(text), Options{}, int(size)+1); got != text && !strings.ContainsAny(text, "\x1d\x1e\x1f") {
			t.Errorf("stamped and decoded: got %q, want %q", got, text)
		}
		for _, o := range []Options{{}, {Timestamps: true}, {Since: begin.Add(time.Second)}} {
			whole, pieces := decode(t, text, o, 1<<30), decode(t, text, o, int(size)+1)
			if whole != pieces {
				t.Errorf("%+v: in pieces of %d: %q, at once: %q", o, int(size)+1, pieces, whole)
			}
		}
	})
}

func BenchmarkDecoder(b *testing.B) {
	for name, width := range map[string]int{"short lines": 40, "lines of 100": 100, "long lines": 4000} {
		for option, o := range map[string]Options{"": {}, ", timestamps": {Timestamps: true}} {
			b.Run(name+option, func(b *testing.B) {
				line := stampOf(0) + " " + strings.Repeat("x", width) + "\n"
				in := []byte(strings.Repeat(line, bufferSize/len(line)))
				d := NewDecoder(display.Both(io.Discard), o)
				b.SetBytes(int64(len(in)))
				for b.Loop() {
					_, _ = d.Write(in)
				}
			})
		}
	}
}

func TestDecoderOfAHostEndsWhatAnAttemptLeftUnfinished(t *testing.T) {
	var out bytes.Buffer
	o := Options{Host: -1, Hosts: 2}
	d := NewDecoder(o.multiplexer(display.Both(&out)).Host(1), o)
	writeIn(t, d, stamped("10%\r20%"), 100)
	if err := d.Next(); err != nil {
		t.Fatal(err)
	}
	writeIn(t, d, stamped("again\nand\r"), 100)
	if err := d.Next(); err != nil {
		t.Fatal(err)
	}
	if want := "host-1 │ 20%\nhost-1 │ again\nhost-1 │ and\r\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
