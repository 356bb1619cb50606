package display

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func through(t testing.TB, w io.WriteCloser, out *bytes.Buffer, in string, size int) string {
	t.Helper()
	writeIn(t, w, in, size)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func plain(t testing.TB, in string, size int) string {
	var out bytes.Buffer
	return through(t, NewPlain(&out), &out, in, size)
}

func TestPlain(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"lines":                        {"a\n\nb\n", "a\n\nb\n"},
		"no final newline":             {"a\nb", "a\nb"},
		"any bytes":                    {"\x00\xff\x1b]0;x\x07\n\xc3", "\x00\xff\x1b]0;x\x07\n\xc3"},
		"DOS line ends":                {"a\r\nb\r\n", "a\r\nb\r\n"},
		"doubled carriage returns":     {"a\r\r\n", "a\r\r\n"},
		"a progress bar":               {"1%\r50%\r100%\nb\n", "100%\nb\n"},
		"one that begins with one":     {"\r1%\r100%\n", "100%\n"},
		"one that ends with one":       {"1%\r100%\r\n", "100%\r\n"},
		"one that is erased":           {"1%\r    \r\n", "    \r\n"},
		"one that is not finished":     {"1%\r50%", "50%"},
		"one that is about to go on":   {"1%\r50%\r", "50%\r"},
		"after an ordinary line":       {"a\n1%\r2%\nb\n", "a\n2%\nb\n"},
		"an endless line, not hidden":  {strings.Repeat("x", maxHeld+1) + "\ry\nb\n", strings.Repeat("x", maxHeld+1) + "\ry\nb\n"},
		"one after an endless line":    {strings.Repeat("x", maxHeld+1) + "\n1%\r2%\n", strings.Repeat("x", maxHeld+1) + "\n2%\n"},
		"one cut before its text":      {"a\n\rbc\nd\n", "a\nbc\nd\n"},
		"a progress bar of many bytes": {strings.Repeat("0123456789\r", MaxLine) + "done\n", "done\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1 << 30, 4096, 3, 1} {
				if got := plain(t, tt.in, size); got != tt.want {
					t.Errorf("in pieces of %d bytes: got %q, want %q", size, clip(got), clip(tt.want))
				}
			}
		})
	}
}

func TestPlainPassesOnWholeLinesAtOnce(t *testing.T) {
	var out bytes.Buffer
	p := NewPlain(&out)
	writeIn(t, p, "a\nb\nhalf", 1<<20)
	if got := out.String(); got != "a\nb\n" {
		t.Errorf("before Close: got %q, want the two whole lines", got)
	}
}

// lastState is the rule of Plain for one whole line.
func lastState(line string) string {
	body := strings.TrimRight(strings.TrimSuffix(line, "\n"), "\r")
	return body[strings.LastIndexByte(body, '\r')+1:] + line[len(body):]
}

func FuzzPlain(f *testing.F) {
	f.Add("a\r\nb\r1%\r2%\n", uint8(1))
	f.Add("\r\r\n\r", uint8(2))
	f.Fuzz(func(t *testing.T, in string, size uint8) {
		if len(in) > maxHeld {
			return
		}
		want := ""
		for line := range strings.SplitAfterSeq(in, "\n") {
			want += lastState(line)
		}
		if got := plain(t, in, int(size)+1); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
