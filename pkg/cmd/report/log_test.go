package report

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// writerFunc is a function that is a writer.
type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func openFile(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestStreamsThatGoToTheSamePlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	one, buffer, function := openFile(t, path), &bytes.Buffer{}, writerFunc(nil)
	tests := map[string]struct {
		a, b io.Writer
		want bool
	}{
		"a file opened twice": {one, openFile(t, path), true},
		"two files":           {one, openFile(t, path+"2"), false},
		"a file and a buffer": {one, buffer, false},
		"one writer":          {buffer, buffer, true},
		"two buffers":         {buffer, &bytes.Buffer{}, false},
		"functions":           {function, function, false},
	}
	for name, tt := range tests {
		if got := isSamePlace(tt.a, tt.b); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestWhereALogEnds(t *testing.T) {
	tests := map[string]struct {
		out, err    string // of the log
		below, both bool
		want        [2]string
	}{
		"whole lines":                        {"a\n", "b\n", true, false, [2]string{"a\n", "b\n"}},
		"standard output is byte-exact":      {"a", "b\n", true, false, [2]string{"a", "b\n"}},
		"ours begins on a line of its own":   {"a\n", "b", true, false, [2]string{"a\n", "b\n"}},
		"unless there is nothing of ours":    {"a\n", "b", false, false, [2]string{"a\n", "b"}},
		"both in one place":                  {"a", "b", false, true, [2]string{"a\nb"}},
		"both in one place, and ours":        {"a", "b", true, true, [2]string{"a\nb\n"}},
		"only standard output, and ours":     {"a", "", true, true, [2]string{"a\n"}},
		"a progress bar, in its last state":  {"", "1%\r2%", true, false, [2]string{"", "2%\n"}},
		"nothing":                            {"", "", true, true, [2]string{}},
		"a line that is over, and one after": {"a\n", "b", true, true, [2]string{"a\nb\n"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var outs, errs bytes.Buffer
			errOut := &errs
			if tt.both {
				errOut = &outs
			}
			l := NewLogWriter(&outs, errOut, tt.below)
			for text, w := range map[string]io.Writer{tt.out: l.Out, tt.err: l.Err} {
				if _, err := io.WriteString(w, text); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if got := [2]string{outs.String(), errs.String()}; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
