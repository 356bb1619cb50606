package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// lines is a terminal: each read gets one line.
type lines struct{ text []string }

func (l *lines) Read(p []byte) (int, error) {
	if len(l.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, l.text[0]+"\n")
	l.text = l.text[1:]
	return n, nil
}

func TestChoose(t *testing.T) {
	choices := []Choice{{"connect", "use a cluster"}, {"create", "make one"}, {"troubleshoot", ""}}
	for name, tt := range map[string]struct {
		typed []string
		want  int
		asked int
	}{
		"a number":              {[]string{"3"}, 2, 1},
		"nothing":               {[]string{""}, 0, 1},
		"a word":                {[]string{"Create"}, 1, 1},
		"the beginning of one":  {[]string{"t"}, 2, 1},
		"the beginning of two":  {[]string{"c", "cr"}, 1, 2},
		"a number out of range": {[]string{"4", "0", "x", "2"}, 1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			got, err := Choose(t.Context(), genericiooptions.IOStreams{In: &lines{tt.typed}, ErrOut: &out}, "What?", choices, 0)
			if got != tt.want || err != nil {
				t.Errorf("got %d, %v", got, err)
			}
			if !strings.HasPrefix(out.String(), "What?\n  1  connect       use a cluster\n  2  create        make one\n  3  troubleshoot\nnumber [1]: ") {
				t.Errorf("asked %q", out.String())
			}
			if asked := strings.Count(out.String(), "number [1]: "); asked != tt.asked {
				t.Errorf("asked %d times, want %d", asked, tt.asked)
			}
		})
	}
	if _, err := Choose(t.Context(), genericiooptions.IOStreams{In: &lines{[]string{"x", "x", "x", "x", "x"}}, ErrOut: io.Discard}, "What?", choices, 0); CodeOf(err) != ExitUsage {
		t.Errorf("nonsense: got %v", err)
	}
}
