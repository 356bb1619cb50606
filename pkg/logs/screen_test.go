package logs

import (
	"bytes"
	"io"
	"testing"
)

func TestScreen(t *testing.T) {
	tests := map[string]struct {
		records []record
		want    string
	}{
		"lines":                       {[]record{out("a\n"), errOut("b\n")}, "a\nb\n"},
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
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			s := NewScreen(&got)
			writeIn(t, NewDecoder(s.Streams(), Options{}), encode(tt.records...), 1<<20)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got.String() != tt.want {
				t.Errorf("got %q, want %q", got.String(), tt.want)
			}
		})
	}
}

func TestScreenPassesOnPiecesAtOnce(t *testing.T) {
	var got bytes.Buffer
	d := NewDecoder(NewScreen(&got).Streams(), Options{})
	for _, step := range []struct{ in, want string }{{"50%", "50%"}, {"\r60%", "50%\r60%"}} {
		writeIn(t, d, encode(errOut(step.in)), 1<<20)
		if got.String() != step.want {
			t.Errorf("got %q, want %q", got.String(), step.want)
		}
	}
}

func BenchmarkScreen(b *testing.B) {
	in := []byte(encode(errOut("INFO step 123456 loss 0.123456 of the model\n"), out("some text to print\n")))
	s := NewScreen(&discard{})
	d := NewDecoder(s.Streams(), Options{})
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		_, _ = d.Write(in)
	}
	_, _ = io.WriteString(d, "")
}
