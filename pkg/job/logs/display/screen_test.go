package display

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestScreen(t *testing.T) {
	long := strings.Repeat("x", MaxLine)
	tests := map[string]struct {
		records []record
		want    string
	}{
		"lines":                       {[]record{out("a\n"), errOut("b\n")}, "a\nb\n"},
		"a bar that clears itself":    {[]record{errOut("1%\r  \r")}, "1%\r  \r"},
		"a bar moves":                 {[]record{errOut("1%"), errOut("\r2%")}, "1%\r2%\n"},
		"a line below a bar":          {[]record{errOut("1%"), out("a\n"), errOut("\r2%\n")}, "1%\na\n\r2%\n"},
		"a line that grows":           {[]record{out("."), errOut("a\n"), out(".\n")}, ".\na\n..\n"},
		"from its last state":         {[]record{out("1%\r2%"), errOut("a\n"), out("!\n")}, "1%\r2%\na\n2%!\n"},
		"two that grow":               {[]record{out("a"), errOut("1"), out("b"), errOut("2"), out("c\n"), errOut("3\n")}, "a\n1\nab\n12\nabc\n123\n"},
		"one that just ends":          {[]record{out("a"), errOut("b\n"), out("\n"), errOut("c\n")}, "a\nb\nc\n"},
		"and so does the other":       {[]record{out("a"), errOut("b"), out("\n"), errOut("\n"), out("c\n")}, "a\nb\nc\n"},
		"a colour does not run over":  {[]record{out("\x1b[31ma"), errOut("b\n"), out("c\x1b[0m\n")}, "\x1b[31ma\x1b[0m\nb\n\x1b[31mac\x1b[0m\n"},
		"a colour that is left on":    {[]record{out("\x1b[31ma\n")}, "\x1b[31ma\n\x1b[0m"},
		"both are made harmless":      {[]record{out("\x07\n"), errOut("\x1b[2J\n")}, `\x07` + "\n" + `\x1b[2J` + "\n"},
		"characters of both, in half": {[]record{out("\xe2\x82"), errOut("\xe2"), out("\xac"), errOut("\x82\xac")}, "€\n€\n"},
		"a long line":                 {[]record{out(long), errOut("b\n"), out("x\n")}, long + "\nb\n" + long + cutMark + "\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			s := NewScreen(&got)
			writeRecords(t, s.Streams(), 1<<20, tt.records...)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got.String() != tt.want {
				t.Errorf("got %q, want %q", clip(got.String()), clip(tt.want))
			}
		})
	}
}

// display is a terminal as far as bars use one, 40 columns wide.
type display struct {
	rows        [][]byte
	row, column int
}

var moves = regexp.MustCompile("^\x1b\\[([0-9;]*)([mKA])")

// Write implements io.Writer.
func (d *display) Write(b []byte) (int, error) {
	for i := 0; i < len(b); i++ {
		for len(d.rows) <= d.row {
			d.rows = append(d.rows, bytes.Repeat([]byte{' '}, 40))
		}
		switch m := moves.FindSubmatch(b[i:]); {
		case m != nil && m[2][0] == 'A':
			n, _ := strconv.Atoi(string(m[1]))
			d.row -= n
			i += len(m[0]) - 1
		case m != nil && m[2][0] == 'K':
			copy(d.rows[d.row][d.column:], bytes.Repeat([]byte{' '}, 40))
			i += len(m[0]) - 1
		case m != nil:
			i += len(m[0]) - 1
		case b[i] == '\n': // a terminal's driver returns, too
			d.row, d.column = d.row+1, 0
		case b[i] == '\r':
			d.column = 0
		case b[i] == '\b':
			d.column = max(0, d.column-1)
		default:
			d.rows[d.row][d.column] = b[i]
			d.column++
		}
	}
	return len(b), nil
}

func (d *display) String() string {
	var text strings.Builder
	for _, row := range d.rows {
		text.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return text.String()
}

// TestBarsOnAScreen is what a reader sees of nested bars, drawn as tqdm does, and of bars
// as Keras draws them.
func TestBarsOnAScreen(t *testing.T) {
	inner := func(text string) []record { return []record{errOut("\n"), errOut("\r" + text + "\x1b[A")} }
	nested := slices.Concat([]record{errOut("\router 1")}, inner("inner 1"), []record{errOut("\router 2")}, inner("inner 2"))
	third := []record{errOut("\n"), errOut("\n"), errOut("\rthird\x1b[A\x1b[A")}
	tests := map[string]struct {
		records []record
		want    string
	}{
		"nested":                     {nested, "outer 2\ninner 2\n"},
		"one that is erased":         {slices.Concat(nested, inner("       \r"), []record{errOut("\router 3\n")}), "outer 3\n\n"},
		"a line below them":          {slices.Concat(nested, []record{out("a\n")}), "outer 2\ninner 2\na\n"},
		"bars that go on below it":   {slices.Concat(nested, []record{out("a\n")}, nested), "outer 2\ninner 2\na\nouter 2\ninner 2\n"},
		"a line between two":         {slices.Concat(nested[:2], []record{out("a\n")}, nested[2:]), "outer 1\na\nouter 2\ninner 2\n"},
		"one that goes on in a line": {slices.Concat(nested, []record{out("a\n"), errOut("\x1b[A\r3")}), "outer 2\ninner 2\na\n3\n"},
		"three":                      {slices.Concat(nested, third, []record{out("a\n")}), "outer 2\ninner 2\nthird\na\n"},
		"the end of the outer one":   {slices.Concat(nested, third, []record{errOut("\n"), out("a\n")}), "outer 2\ninner 2\nthird\na\n"},
		"no line of the other's":     {[]record{out("a\n"), errOut("\x1b[Ab\n"), out("\x1b[2Ac\n")}, "a\nb\nc\n"},
		"a line in place of a bar":   {[]record{errOut("\r50%"), errOut("\r   \r"), out("a\n"), errOut("\r60%")}, "a\n60%\n"},
		"in place of an erased one":  {[]record{errOut("\r50%"), errOut("\r\x1b[K"), out("a\n"), errOut("\r60%\n")}, "a\n60%\n"},
		"bars that leave nothing":    {[]record{errOut("\r50%\r   \r"), out("a\n"), errOut("\r50%\r   \r"), out("b\n")}, "a\nb\n"},
		"one that is partly blank":   {[]record{errOut("\r50%\r \r"), out("a\n")}, " 0%\na\n"},
		"bars and lines below them":  {[]record{errOut("\r50%"), errOut("\r100%\n"), out("a\n"), errOut("\r0%"), out("b\n"), errOut("\r9%\n")}, "100%\na\n0%\nb\n9%\n"},
		"Keras":                      {[]record{out("\r1/2 loss"), out("\b\b\b\b\b\b\b\b\r2/2 done\n")}, "2/2 done\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1 << 20, 1} {
				var got display
				s := NewScreen(&got)
				writeRecords(t, s.Streams(), size, tt.records...)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if got.String() != tt.want {
					t.Errorf("in pieces of %d bytes: got %q, want %q", size, got.String(), tt.want)
				}
			}
		})
	}
}

func TestScreenPassesOnPiecesAtOnce(t *testing.T) {
	var got bytes.Buffer
	w := NewScreen(&got).Streams()
	for _, step := range []struct{ in, want string }{{"50%", "50%"}, {"\r60%", "50%\r60%"}} {
		writeRecords(t, w, 1<<20, errOut(step.in))
		if got.String() != step.want {
			t.Errorf("got %q, want %q", got.String(), step.want)
		}
	}
}

func BenchmarkScreen(b *testing.B) {
	first, second := []byte("INFO step 123456 loss 0.123456 of the model\n"), []byte("some text to print\n")
	w := NewScreen(&discard{}).Streams()
	b.SetBytes(int64(len(first) + len(second)))
	for b.Loop() {
		_, _ = w.Err.Write(first)
		_, _ = w.Out.Write(second)
	}
}
