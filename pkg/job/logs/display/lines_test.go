package display

import (
	"errors"
	"strings"
	"testing"
)

// blocks records each write.
type blocks []string

func (b *blocks) Write(p []byte) (int, error) { *b = append(*b, string(p)); return len(p), nil }

func TestLines(t *testing.T) {
	long := strings.Repeat("x", MaxLine)
	for name, tt := range map[string]struct {
		writes []string
		want   string
	}{
		"several at once":       {[]string{"a\nb\nc"}, "a\nb\n|c"},
		"pieces":                {[]string{"a", "b\n"}, "ab\n"},
		"a progress bar":        {[]string{"10%\r20%", "\r30%\n"}, "30%\n"},
		"the end of a file":     {[]string{"a\r\nb"}, "a\r\n|b"},
		"a long line":           {[]string{long, "yz\nb\n"}, long + cutMark + "\nb\n"},
		"a long progress bar":   {[]string{strings.Repeat("10%\r", MaxLine) + "20%\n"}, "20%\n"},
		"nothing":               {nil, ""},
		"an empty line":         {[]string{"\n"}, "\n"},
		"a bar that begins one": {[]string{"\r10%\r"}, "10%\r"},
	} {
		t.Run(name, func(t *testing.T) {
			var got blocks
			l := NewLines(&got)
			var err error
			for _, b := range tt.writes {
				_, writeErr := l.Write([]byte(b))
				err = errors.Join(err, writeErr)
			}
			if err := errors.Join(err, l.Close()); err != nil {
				t.Fatal(err)
			}
			if joined := strings.Join(got, "|"); joined != tt.want {
				t.Errorf("got %.200q, want %.200q", joined, tt.want)
			}
		})
	}
}
