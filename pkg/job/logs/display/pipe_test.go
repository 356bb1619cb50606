package display

import (
	"bytes"
	"strings"
	"testing"
)

func TestPipe(t *testing.T) {
	held := strings.Repeat("x", 3*MaxLine)
	long := strings.Repeat("x", maxHeld+1)
	rest := long[len(held):]
	tests := map[string]struct {
		records []record
		want    string
	}{
		"lines":                           {[]record{out("a\n"), errOut("b\n")}, "a\nb\n"},
		"a line in the middle of another": {[]record{out("a"), errOut("b\n"), out("c\n")}, "b\nac\n"},
		"in a line that is held":          {[]record{out(held), errOut("b\n"), out("c\n")}, "b\n" + held + "c\n"},
		"in one that is too long": {
			[]record{out(long), errOut("b\n"), out("c"), errOut("d\n"), out("e\nf\n")},
			long + "ce\nb\nd\nf\n",
		},
		"in one of the other stream":       {[]record{errOut(long), out("b\n"), errOut("\n")}, long + "\nb\n"},
		"in one that has no end":           {[]record{out(long), errOut("b\n"), out("c")}, long + "c\nb\n"},
		"an unfinished one in such a line": {[]record{out(long), errOut("b")}, long + "\nb"},
		"a second line that is too long": {
			[]record{out(long), errOut(long), out("b\n"), errOut("c\n")},
			long + "\n" + long + "c\nb\n",
		},
		"too much in a line": {
			[]record{out(long), errOut(held + "\n"), out("b"), errOut(rest + "\n"), out("c\n")},
			long + "b\n" + held + "\n" + rest + "\nc\n",
		},
		"what follows a line that was broken": {
			[]record{out(long), errOut(long), out("a"), errOut("\n"), errOut("b\n")},
			long + "\n" + long + "\na\nb\n",
		},
		"unfinished lines, each on its own": {[]record{out("a"), errOut("b")}, "a\nb"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			p := NewPipe(&got)
			writeRecords(t, p.Streams(), 1<<16, tt.records...)
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if got.String() != tt.want {
				t.Errorf("got %q, want %q", clip(got.String()), clip(tt.want))
			}
		})
	}
}

func TestPipeDoesNotHoldALongLineWhole(t *testing.T) {
	var got discard
	p := NewPipe(&got)
	piece := out(strings.Repeat("x", 1<<20))
	const pieces = 50
	for range pieces {
		writeRecords(t, p.Streams(), 1<<20, piece)
	}
	if held := cap(p.lines[Stdout].held) + cap(p.waiting); got.bytes != pieces<<20 || held > 4*maxHeld {
		t.Errorf("%d bytes are passed on, %d are held", got.bytes, held)
	}
}
