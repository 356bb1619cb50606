package display

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func terminal(t testing.TB, in string, size int) string {
	var out bytes.Buffer
	return through(t, NewTerminal(&out), &out, in, size)
}

func TestTerminal(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"text":                        {"a\tb\r\nc\rd €😀\n", "a\tb\r\nc\rd €😀\n"},
		"colours":                     {"\x1b[1;31mred\x1b[0m \x1b[38:2:1:2:3mrgb\x1b[m", "\x1b[1;31mred\x1b[0m \x1b[38:2:1:2:3mrgb\x1b[m"},
		"a colour left on":            {"\x1b[31mred\n", "\x1b[31mred\n\x1b[0m"},
		"a title":                     {"\x1b]0;you\x07\n", `\x1b]0;you\x07` + "\n"},
		"cursor movement":             {"\x1b[2B\x1b[2J\x1b[H", `\x1b[2B\x1b[2J\x1b[H`},
		"backspaces":                  {"50%\b\b\b\r60%", "50%\b\b\b\r60%"},
		"erasing in the line":         {"a\r\x1b[K\x1b[2Kb", "a\r\x1b[K\x1b[2Kb"},
		"up":                          {"a\nb\x1b[A", "a\nb\x1b[1A"},
		"up to the first line":        {"a\nb\nc\x1b[7Ad\x1b[A\n\x1b[0A", "a\nb\nc\x1b[2Ad\n\x1b[1A"},
		"up from the first line":      {"a\x1b[A\x1b[2Ab", "ab"},
		"far up":                      {strings.Repeat("\n", 99) + "\x1b[88A", strings.Repeat("\n", 99) + "\x1b[20A"},
		"further than can be counted": {"\n\n\x1b[99999999999999999999A", "\n\n\x1b[1A"},
		"a query":                     {"\x1b[6n\x1b[c", `\x1b[6n\x1b[c`},
		"private parameters":          {"\x1b[>4;1m\x1b[?25l", `\x1b[>4;1m\x1b[?25l`},
		"intermediate bytes":          {"\x1b[1 m", `\x1b[1 m`},
		"two brackets":                {"\x1b[[1m", `\x1b[[1m`},
		"two-byte sequences":          {"\x1bc\x1b7", `\x1bc\x1b7`},
		"ESC before a colour":         {"\x1b\x1b[1mx\x1b[0m", `\x1b` + "\x1b[1mx\x1b[0m"},
		"a colour cut by a line end":  {"\x1b[1\nm", `\x1b[1` + "\nm"},
		"an endless colour":           {"\x1b[" + strings.Repeat("1", 100) + "m", `\x1b[` + strings.Repeat("1", 100) + "m"},
		"an unfinished colour":        {"a\x1b[3", `a\x1b[3`},
		"control characters":          {"\x00\x07\x0b\x0c\x0e\x7f", `\x00\x07\x0b\x0c\x0e\x7f`},
		"C1 as characters":            {"\u009b2J\u009d0;t\u009c\u0080\u009f", `\u009b2J\u009d0;t\u009c\u0080\u009f`},
		"C1 as bytes":                 {"\x9b2J\x80", `\x9b2J\x80`},
		"the character after C1":      {"\u00a0é", "\u00a0é"},
		"bytes that are not UTF-8":    {"\xff\xc3(\xe2\x82\n", `\xff\xc3(\xe2\x82` + "\n"},
		"a character that is torn":    {"a\xe2\x82", `a\xe2\x82`},
		"the replacement character":   {"\ufffd", "\ufffd"},
		"an overlong form of ESC":     {"\xc0\x9b[2J", `\xc0\x9b[2J`},
		"reset by parameters of zero": {"\x1b[1m\x1b[0;00mx", "\x1b[1m\x1b[0;00mx"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1 << 30, 3, 2, 1} {
				if got := terminal(t, tt.in, size); got != tt.want {
					t.Errorf("in pieces of %d bytes: got %q, want %q", size, got, tt.want)
				}
			}
		})
	}
}

func TestTerminalPassesOnTextAtOnce(t *testing.T) {
	var out bytes.Buffer
	term := NewTerminal(&out)
	writeIn(t, term, "50%\r60%", 1<<20)
	if got := out.String(); got != "50%\r60%" {
		t.Errorf("before Close: got %q, want all of it", got)
	}
}

// FuzzTerminal: nothing but text, colours and what bars move with gets through, text does
// as it is, and the size of the pieces never matters.
func FuzzTerminal(f *testing.F) {
	colour := regexp.MustCompile("\x1b\\[[0-9;:]*[mKA]")
	f.Add("a\n\x1b[Ab\x1b[2K\b", uint8(2))
	f.Add("a\x1b[1;31mb\x1b]0;t\x07\u009b2J\xff€", uint8(2))
	f.Add("\x1b[\x1b[0m\xe2\x82", uint8(1))
	f.Fuzz(func(t *testing.T, in string, size uint8) {
		got := terminal(t, in, 1<<30)
		if pieces := terminal(t, in, int(size)+1); pieces != got {
			t.Errorf("in pieces of %d: %q, at once: %q", int(size)+1, pieces, got)
		}
		text := colour.ReplaceAllString(got, "")
		for i, r := range text {
			if r < ' ' && !strings.ContainsRune("\t\r\n\b", r) || r >= 0x7f && r < 0xa0 || !utf8.ValidString(text) {
				t.Fatalf("%q gets through at %d of %q", r, i, got)
			}
		}
		if in == strings.Map(func(r rune) rune {
			if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 {
				return -1
			}
			return r
		}, in) && utf8.ValidString(in) && got != in {
			t.Errorf("text %q became %q", in, got)
		}
	})
}

func BenchmarkTerminal(b *testing.B) {
	in := []byte(strings.Repeat("\x1b[32mINFO\x1b[0m step 123456 loss 0.123456 of the model, with some more text to print\n", 3000))
	term := NewTerminal(&discard{})
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		_, _ = term.Write(in)
	}
}

// discard counts what it is given; unlike io.Discard it has no shortcuts.
type discard struct{ bytes, lines int }

func (d *discard) Write(p []byte) (int, error) {
	d.bytes += len(p)
	d.lines += bytes.Count(p, []byte{'\n'})
	return len(p), nil
}
