package display

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

// strict is a writer that takes whole lines, from one host at a time.
type strict struct {
	t    *testing.T
	busy sync.Mutex
	bytes.Buffer
}

// Write implements io.Writer.
func (s *strict) Write(b []byte) (int, error) {
	if !s.busy.TryLock() {
		s.t.Error("two hosts write at a time")
		return len(b), nil
	}
	defer s.busy.Unlock()
	if b[len(b)-1] != '\n' {
		s.t.Errorf("not a whole line: %q", b)
	}
	return s.Buffer.Write(b)
}

func TestMultiplexerKeepsTheLinesOfEachHostWholeAndInOrder(t *testing.T) {
	const hosts, lines = 7, 300
	out := &strict{t: t}
	mux := NewMultiplexer(Both(out), "host", View{}, View{})
	var wait sync.WaitGroup
	for host := range hosts {
		wait.Go(func() {
			writeIn(t, mux.Host(host).Out, numbered(1, lines), 3+11*host)
		})
	}
	wait.Wait()
	of := map[string]string{}
	for line := range strings.Lines(out.String()) {
		host, text, _ := strings.Cut(line, " │ ")
		of[host] += text
	}
	for host := range hosts {
		if of[fmt.Sprintf("host-%d", host)] != numbered(1, lines) {
			t.Errorf("host %d: %.100q …", host, of[fmt.Sprintf("host-%d", host)])
		}
	}
}

// A line that is cut ends in whole lines, too, with nothing of other hosts in it.
func TestMultiplexerCutsLongLines(t *testing.T) {
	out := &strict{t: t}
	w := NewMultiplexer(Both(out), "host", View{}, View{}).Host(1).Out
	long := strings.Repeat("x", maxMergedLine)
	writeIn(t, w, long+"\n"+long+"yz\nb\n", 1<<16)
	if want := "host-1 │ " + long + "\nhost-1 │ " + long + mergedCutMark + "\nhost-1 │ b\n"; out.String() != want {
		t.Errorf("got %q", clip(out.String()))
	}
}

// TestMultiplexerOnATerminal is what a reader sees of the unfinished lines of two hosts.
func TestMultiplexerOnATerminal(t *testing.T) {
	type step struct {
		host int
		record
	}
	const red, plain = "\x1b[31m", "\x1b[0m"
	tests := map[string]struct {
		steps   []step
		columns int
		want    string
	}{
		"one bar":        {[]step{{0, errOut("1%")}, {0, errOut("\r20%")}, {0, errOut("\r3%")}}, 40, "host-0 │ 3%\n"},
		"one that grows": {[]step{{0, out("a")}, {0, out("b")}}, 40, "host-0 │ ab\n"},
		"one that ends":  {[]step{{0, out("abc")}, {0, out("\rb\n")}, {0, out("c\n")}}, 40, "host-0 │ b\nhost-0 │ c\n"},
		"another host's line": {
			[]step{{0, errOut("1%")}, {1, out("a\n")}, {0, errOut("\r2%")}, {0, errOut("\r3%")}}, 40,
			"host-0 │ 1%\nhost-1 │ a\nhost-0 │ 3%\n",
		},
		"another line of its own": {
			[]step{{0, errOut("1%")}, {0, out("a\n")}, {0, errOut("\r2%\n")}}, 40,
			"host-0 │ 1%\nhost-0 │ a\nhost-0 │ 2%\n",
		},
		"two bars": {
			[]step{{0, errOut("1%")}, {1, errOut("1%")}, {0, errOut("\r2%")}, {1, errOut("\r2%\n")}, {0, errOut("\r3%")}}, 40,
			"host-0 │ 1%\nhost-1 │ 2%\nhost-0 │ 3%\n",
		},
		"no room for all of it": {[]step{{0, errOut("0123456789")}, {0, errOut("\r1123456789")}}, 14, "host-0 │ 11234\n"},
		"all of it at its end":  {[]step{{0, errOut("0123456789")}, {0, errOut("\n")}}, 14, "host-0 │ 0123456789\n"},
		"colours take no room":  {[]step{{0, errOut(red + "0123" + plain + "4567")}}, 14, "host-0 │ 01234\n"},
		"wide characters do":    {[]step{{0, errOut("你好你好")}}, 14, "host-0 │ 你好\n"},
		"nested bars": {
			[]step{{1, out("a\n")}, {0, errOut("1\n")}, {0, errOut("\r2\x1b[A")}, {1, out("b\n")}}, 40,
			"host-1 │ a\nhost-0 │ 1\nhost-0 │ 2\nhost-1 │ b\n",
		},
		"no terminal that can": {[]step{{0, errOut("1%")}, {0, errOut("\r2%")}}, 0, ""},
		"one that can't, nested": {
			[]step{{0, errOut("1\n")}, {0, errOut("\r2\x1b[A\n")}, {1, errOut("b\n")}}, 0,
			"host-0 │ 1\nhost-0 │ 2\nhost-1 │ b\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got display
			s := NewScreen(&got)
			view := View{Terminal: true, Columns: tt.columns}
			mux := NewMultiplexer(s.Streams(), "host", view, view)
			hosts := []Streams{mux.Host(0), mux.Host(1)}
			for _, step := range tt.steps {
				writeRecords(t, hosts[step.host], 1<<20, step.record)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got.String() != tt.want {
				t.Errorf("got %q, want %q", got.String(), tt.want)
			}
		})
	}
}

// A file gets whole lines while a terminal shows one as it stands.
func TestMultiplexerOnATerminalAndAFile(t *testing.T) {
	var file, screen bytes.Buffer
	w := NewMultiplexer(Streams{Out: &file, Err: &screen}, "host", View{}, View{Terminal: true, Columns: 40}).Host(0)
	writeRecords(t, w, 1<<20, errOut("1%"), out("a"), out("b\x1b[A\n"), errOut("\r2%"))
	if want := "host-0 │ ab\x1b[A\n"; file.String() != want {
		t.Errorf("the file has %q, want %q", file.String(), want)
	}
	if want := "host-0 │ 1%" + eraseLine + "host-0 │ 2%"; screen.String() != want {
		t.Errorf("the terminal gets %q, want %q", screen.String(), want)
	}
}

func BenchmarkMultiplexer(b *testing.B) {
	block := []byte(numbered(1, 500))
	w := NewMultiplexer(Both(io.Discard), "host", View{}, View{}).Host(1).Out
	b.SetBytes(int64(len(block)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = w.Write(block)
	}
}

func TestMultiplexerOfChunks(t *testing.T) {
	var out bytes.Buffer
	writeIn(t, NewMultiplexer(Both(&out), "chunk", View{}, View{}).Host(1).Out, "a\n", 100)
	if got := out.String(); got != "chunk-1 │ a\n" {
		t.Errorf("got %q", got)
	}
}

func TestGlyph(t *testing.T) {
	for text, want := range map[string]int{"a": 1, "█": 1, "é": 1, "\t": 8, "中": 2, "✅": 2, "⭐": 2, "🚀": 2, "\x1b[31m": 0} {
		if size, columns := glyph([]byte(text)); size != len(text) || columns != want {
			t.Errorf("%q has %d bytes and %d columns, want %d and %d", text, size, columns, len(text), want)
		}
	}
}
