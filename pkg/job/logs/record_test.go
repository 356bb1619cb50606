package logs

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// record is a line of a log, or a piece of one where its text has no line end.
type record struct {
	stream display.Stream
	text   string
}

func out(text string) record { return record{display.Stdout, text} }

func errOut(text string) record { return record{display.Stderr, text} }

// encode writes records as the runner does, one a second.
func encode(records ...record) string {
	var b strings.Builder
	for n, r := range records {
		b.WriteString(encodeOne(n, r))
	}
	return b.String()
}

func encodeOne(n int, r record) string {
	text, whole := strings.CutSuffix(r.text, "\n")
	line := stampOf(n) + " "
	switch {
	case r.stream == display.Stderr:
		line += "\x1e"
	case strings.HasPrefix(text, "\x1e"), strings.HasPrefix(text, "\x1d"):
		line += "\x1d"
	}
	line += text
	switch {
	case whole && strings.HasSuffix(text, "\x1f"):
		return line + "\x1f\n" + encodeOne(n, record{r.stream, "\n"})
	case !whole:
		line += "\x1f"
	}
	return line + "\n"
}

// recorder notes what is written to both streams, in order: the beginning of each run of
// one stream is shown by its name.
type recorder struct {
	strings.Builder
	last string
}

func (r *recorder) streams() display.Streams {
	stream := func(name string) writerFunc {
		return func(p []byte) (int, error) {
			if name != r.last {
				r.WriteString("<" + name + ">")
				r.last = name
			}
			return r.Write(p)
		}
	}
	return display.Streams{Out: stream("out"), Err: stream("err")}
}

type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestDecoderTellsTheStreamsApart(t *testing.T) {
	long := strings.Repeat("x", readSize)
	tests := map[string]struct {
		in   string
		o    Options
		want string
	}{
		"lines in order":                     {encode(out("a\n"), errOut("b\n"), out("c\n"), out("d\n")), Options{}, "<out>a\n<err>b\n<out>c\nd\n"},
		"an empty line":                      {encode(errOut("\n"), out("\n")), Options{}, "<err>\n<out>\n"},
		"pieces":                             {encode(errOut("10%"), errOut("\r20%"), errOut("\r30%\n")), Options{}, "<err>10%\r20%\r30%\n"},
		"pieces of both":                     {encode(errOut("10%"), out("a"), errOut("\r20%"), out("b\n"), errOut("\n")), Options{}, "<err>10%<out>a<err>\r20%<out>b\n<err>\n"},
		"an unfinished line":                 {encode(errOut("a\n"), out("b")), Options{}, "<err>a\n<out>b"},
		"text that begins like a mark":       {encode(out("\x1ea\n"), out("\x1db\n"), errOut("\x1ec\n"), errOut("\x1dd\n")), Options{}, "<out>\x1ea\n\x1db\n<err>\x1ec\n\x1dd\n"},
		"text that ends like a piece":        {encode(out("a\x1f\n"), out("b\x1f\x1f\n"), out("\x1fc\x1fd\n")), Options{}, "<out>a\x1f\nb\x1f\x1f\n\x1fc\x1fd\n"},
		"a mark without a stamp is text":     {"\x1ea\n", Options{}, "<out>\x1ea\n"},
		"timestamps, once a line":            {encode(errOut("a"), out("b\n"), errOut("c\n"), errOut("d\n")), Options{Timestamps: true}, "<err>" + stampOf(0) + " a<out>" + stampOf(1) + " b\n<err>c\n" + stampOf(3) + " d\n"},
		"timestamps of a progress bar":       {encode(errOut("10%"), errOut("\r20%\n")), Options{Timestamps: true}, "<err>" + stampOf(0) + " 10%\r" + stampOf(0) + " 20%\n"},
		"since counts lines, not pieces":     {encode(out("a"), errOut("x\n"), out("b\n"), out("c\n")), Options{Since: begin.Add(time.Second)}, "<err>x\n<out>c\n"},
		"since, of a progress bar":           {encode(errOut("10%\r"), errOut("20%\r"), out("a\n"), errOut("30%\r"), errOut("40%\r\n"), errOut("b\n")), Options{Since: begin.Add(2 * time.Second)}, "<out>a\n<err>30%\r40%\r\nb\n"},
		"since, of one that is redrawn once": {encode(errOut("10%"), errOut("\r20%\r\n"), errOut("b\n")), Options{Since: begin.Add(time.Second), Timestamps: true}, "<err>" + stampOf(1) + " 20%\r\n" + stampOf(2) + " b\n"},
		"since, of a DOS line end":           {encode(errOut("10%"), errOut("\r\n"), errOut("b\n")), Options{Since: begin.Add(time.Second)}, "<err>b\n"},
		"a long line in pieces":              {encode(out(long), errOut("e\n"), out("yz"), out("z\n"), out("b\n")), Options{}, "<out>" + long + "<err>e\n<out>yzz\nb\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1 << 30, 4096, 29, 28, 7, 1} {
				var got recorder
				writeIn(t, NewDecoder(got.streams(), tt.o), tt.in, size)
				if got.String() != tt.want {
					t.Errorf("in pieces of %d bytes: got %q, want %q", size, clip(got.String()), clip(tt.want))
				}
			}
		})
	}
}

func TestDecoderNextEndsTheLinesOfBothStreams(t *testing.T) {
	var got recorder
	d := NewDecoder(got.streams(), Options{})
	writeIn(t, d, encode(errOut("a"), out("b")), 1<<20)
	if err := d.Next(); err != nil {
		t.Fatal(err)
	}
	writeIn(t, d, encode(errOut("c\n")), 1<<20)
	if want := "<err>a<out>b\n<err>\nc\n"; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}

// FuzzRecords checks that encoded records are decoded unchanged, each stream by itself,
// and that the size of the pieces never matters.
func FuzzRecords(f *testing.F) {
	f.Add("a\nb\r\n\r1%\r2%", "warning\n\x1e\x1d\x1f\n", uint64(1), uint8(3))
	f.Add("\x1f\n\x1f", "\x1e", uint64(2), uint8(28))
	f.Fuzz(func(t *testing.T, stdout, stderr string, seed uint64, size uint8) {
		random := rand.New(rand.NewPCG(seed, 0))
		in := encode(pieces(random, stdout, stderr)...)
		var outs, errs bytes.Buffer
		writeIn(t, NewDecoder(display.Streams{Out: &outs, Err: &errs}, Options{}), in, int(size)+1)
		if outs.String() != stdout || errs.String() != stderr {
			t.Errorf("got %q and %q, want %q and %q; from %q", outs.String(), errs.String(), stdout, stderr, in)
		}
		for _, o := range []Options{{Timestamps: true}, {Since: begin.Add(2 * time.Second)}} {
			var whole, split recorder
			writeIn(t, NewDecoder(whole.streams(), o), in, 1<<30)
			writeIn(t, NewDecoder(split.streams(), o), in, int(size)+1)
			if whole.String() != split.String() {
				t.Errorf("%+v: in pieces of %d: %q, at once: %q", o, int(size)+1, split.String(), whole.String())
			}
		}
	})
}

// pieces returns records of both texts in any order, each line in one or several pieces.
func pieces(random *rand.Rand, stdout, stderr string) []record {
	left := [2]string{stdout, stderr}
	var all []record
	for left[display.Stdout]+left[display.Stderr] != "" {
		s := display.Stream(random.IntN(2))
		if left[s] == "" {
			continue
		}
		n := 1 + random.IntN(min(len(left[s]), 8))
		if i := strings.IndexByte(left[s], '\n'); i >= 0 {
			n = min(n, i+1)
		}
		all = append(all, record{s, left[s][:n]})
		left[s] = left[s][n:]
	}
	return all
}

// lastOf returns the last lines of a log as a pipe gets them.
func lastOf(t *testing.T, log string, from int, before []byte) string {
	t.Helper()
	var got bytes.Buffer
	plains := [2]*display.Plain{display.NewPlain(&got), display.NewPlain(&got)}
	d := NewDecoder(display.Streams{Out: plains[display.Stdout], Err: plains[display.Stderr]}, Options{})
	writeIn(t, d, string(before)+strings.Join(strings.SplitAfter(log, "\n")[from:], ""), 1<<20)
	if err := d.Next(); err != nil {
		t.Fatal(err)
	}
	return got.String()
}

func startOf(log string, n int, whole bool) (skip int, before []byte, found bool) {
	tail := &Tail{Lines: n}
	_, _ = tail.Write([]byte(log))
	return tail.Start(whole)
}

func TestTail(t *testing.T) {
	bar := []record{errOut("1%"), out("a\n"), errOut("\r2%"), out("b\n"), errOut("\r3%"), out("c\n")}
	tests := map[string]struct {
		records []record
		lines   int
		want    string
	}{
		"whole lines":                     {[]record{out("a\n"), errOut("b\n"), out("c\n")}, 2, "b\nc\n"},
		"more than there are":             {[]record{out("a\n"), errOut("b\n")}, 3, "a\nb\n"},
		"pieces are one line":             {[]record{out("a\n"), out("b"), out("c"), out("d\n"), out("e\n")}, 2, "bcd\ne\n"},
		"one between pieces":              {[]record{out("a\n"), out("b"), errOut("x\n"), out("d\n"), out("e\n")}, 2, "x\ne\n"},
		"and the line around it":          {[]record{out("a\n"), out("b"), errOut("x\n"), out("d\n"), out("e\n")}, 3, "x\nbd\ne\n"},
		"a bar counts where it moved":     {bar, 2, "c\n3%\n"},
		"and only once":                   {bar, 4, "a\nb\nc\n3%\n"},
		"a bar alone":                     {bar[:5], 1, "3%\n"},
		"a bar whose states end in \\r":   {[]record{errOut("1%\r"), errOut("2%\r"), out("a\n"), errOut("3%\r"), out("b\n")}, 2, "b\n3%\r\n"},
		"a line that was redrawn earlier": {[]record{errOut("1%"), errOut("\r2%"), out("a\n"), errOut("!\n"), out("b\n")}, 2, "a\nb\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			log := encode(tt.records...)
			skip, before, found := startOf(log, tt.lines, true)
			if got := lastOf(t, log, skip, before); got != tt.want || !found {
				t.Errorf("got %q, %v, want %q", got, found, tt.want)
			}
		})
	}
}

// A tail has as many lines as were requested, each as a pipe gets it, and it begins at
// the same place if only the end of the log is searched.
func TestTailOfAnyLog(t *testing.T) {
	text := func(random *rand.Rand, name string) string {
		var b strings.Builder
		for n := range 1 + random.IntN(6) {
			fmt.Fprintf(&b, "%s%d%s", name, n, []string{"\n", "\n", "\r", " ", "\r\n", "."}[random.IntN(6)])
		}
		return b.String() + "end\n"
	}
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 1))
		records := pieces(random, text(random, "out"), text(random, "err"))
		log := encode(records...)
		all := lastOf(t, log, 0, nil)
		total := strings.Count(all, "\n")
		for lines := 1; lines <= total; lines++ {
			skip, before, _ := startOf(log, lines, true)
			got := lastOf(t, log, skip, before)
			if n := strings.Count(got, "\n"); n != lines {
				t.Fatalf("seed %d: %d lines of %d: %q, %q", seed, n, lines, got, log)
			}
			for line := range strings.Lines(got) {
				if !strings.Contains("\n"+all, "\n"+line) {
					t.Fatalf("seed %d: %q is no line of %q", seed, line, all)
				}
			}
			for from := range records {
				part := strings.Join(strings.SplitAfter(log, "\n")[from:], "")
				again, begun, found := startOf(part, lines, false)
				if found && (again+from != skip || lastOf(t, part, again, begun) != got) {
					t.Fatalf("seed %d: from record %d on, %d lines begin at %d, not %d: %q", seed, from, lines, again+from, skip, log)
				}
			}
		}
	}
}

// The first line of a stream may be the rest of one. It is limited how far back its
// beginning is searched.
func TestHowFarATailLooksBack(t *testing.T) {
	before := func(n int) []record {
		records := make([]record, n)
		for i := range records {
			records[i] = out("x\n")
		}
		return records
	}
	for n, want := range map[int]bool{lookBack: true, lookBack - 1: false} {
		if _, _, found := startOf(encode(append(before(n), errOut("e\n"))...), 1, false); found != want {
			t.Errorf("%d records before: found %v", n, found)
		}
	}
	if _, _, found := startOf(encode(append(before(2), out("a\n"))...), 1, false); !found {
		t.Error("the beginning of a line that is known is looked for")
	}
}

func TestStoredPieces(t *testing.T) {
	s := storeWith(t, map[string]string{
		"0/1-1.log": encode(out("a\n"), errOut("1%"), out("b\n")),
		"0/1-2.log": encode(errOut("\r2%"), out("c\n"), errOut("\r3%\n"), out("unfinished")),
		"0/2-1.log": encode(errOut("again\n"), out("d\n")),
		"1/1-1.log": encode(out("A\n"), errOut("E"), errOut("F\n")),
	})
	tests := map[string]struct {
		o    Options
		want string
	}{
		"all":               {Options{Tail: -1, Host: 0}, "<out>a\n<err>1%<out>b\n<err>\r2%<out>c\n<err>\r3%\n<out>unfinished\n<err>again\n<out>d\n"},
		"tail":              {Options{Tail: 5, Host: 0}, "<out>c\n<err>3%\n<out>unfinished\n<err>again\n<out>d\n"},
		"of several hosts":  {Options{Tail: -1, Host: -1, Attempt: 1}, "<out>host-0 │ a\nhost-1 │ A\nhost-0 │ b\nhost-0 │ c\n<err>host-0 │ 3%\nhost-1 │ EF\n<out>host-0 │ unfinished\n"},
		"tail of several":   {Options{Tail: 1, Host: -1, Attempt: 1}, "<err>host-1 │ EF\n<out>host-0 │ unfinished\n"},
		"colour of streams": {Options{Tail: 1, Host: -1, Attempt: 1, Err: display.View{Color: true}}, "<err>\x1b[33mhost-1 │ \x1b[0mEF\n<out>host-0 │ unfinished\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got recorder
			if err := Stored(t.Context(), s, jobID, tt.o, got.streams()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// BenchmarkAMillionLines decodes both streams, as pipes get them.
func BenchmarkAMillionLines(b *testing.B) {
	const lines = 1_000_000
	records := make([]record, 1000)
	for n := range records {
		records[n] = record{display.Stream(n / 10 % 2), fmt.Sprintf("step %d, some text of a line of a log\n", n)}
	}
	block := []byte(encode(records...))
	for b.Loop() {
		d := NewDecoder(display.Streams{Out: display.NewPlain(&discard{}), Err: display.NewPlain(&discard{})}, Options{})
		for range lines / len(records) {
			_, _ = d.Write(block)
		}
	}
	b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

func TestHasStamp(t *testing.T) {
	good := stampOf(0) + " "
	if !hasStamp([]byte(good)) || !hasStamp([]byte("9999-99-99T99:99:99.999999Z x")) {
		t.Error("a stamp is not seen")
	}
	for i := range good {
		for c := range 256 {
			b := []byte(good)
			b[i] = byte(c)
			if got, want := hasStamp(b), stampPrefix(b, 0) == len(b); got != want {
				t.Fatalf("%q: got %v", b, got)
			}
		}
	}
}
