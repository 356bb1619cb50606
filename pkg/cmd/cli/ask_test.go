package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestConfirm(t *testing.T) {
	for typed, want := range map[string]int{"y\nmore": ExitDone, " YES \n": ExitDone, "y": ExitDone, "n\n": ExitFailed, "\n": ExitFailed, "": ExitFailed, "yesterday\n": ExitFailed} {
		var said bytes.Buffer
		streams := genericiooptions.IOStreams{In: strings.NewReader(typed), ErrOut: &said}
		asked := "it would go. Continue? [y/N] "
		if typed == "" {
			asked += "\n" // what follows is on a line of its own
		}
		if want == ExitFailed {
			asked += "it stays\n"
		}
		if got := CodeOf(Confirm(t.Context(), streams, "it would go", "it stays")); got != want || said.String() != asked {
			t.Errorf("%q: got %d, said %q", typed, got, &said)
		}
		if err := MustConfirm(t.Context(), streams, "it would go", "it stays", "--yes"); CodeOf(err) != ExitUsage || err.Error() != "it would go; stdin is not a terminal: confirm with --yes" {
			t.Errorf("what is no terminal: got %v", err)
		}
	}
	// Ctrl-C at the question is an answer.
	silent, _ := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Confirm(ctx, genericiooptions.IOStreams{In: silent, ErrOut: io.Discard}, "it would go", "it stays"); CodeOf(err) != ExitInterrupted {
		t.Errorf("interrupted: got %v", err)
	}
}

// The end of the input takes no default, since nobody has chosen it.
func TestTheEndOfTheInputIsNoAnswer(t *testing.T) {
	choices := []string{"connect", "create"}
	fine := func(string) error { return nil }
	for name, tt := range map[string]struct {
		ask  func(context.Context, genericiooptions.IOStreams) error
		want string
	}{
		"a value": {func(ctx context.Context, s genericiooptions.IOStreams) error {
			_, err := AskFor(ctx, s, "zone or region", "us-central1-a")
			return err
		}, `no answer to "zone or region": end of input; nothing was changed`},
		"a value that is checked": {func(ctx context.Context, s genericiooptions.IOStreams) error {
			_, err := AskUntil(ctx, s, "cluster", "kinetic-cluster", fine)
			return err
		}, `no answer to "cluster": end of input; nothing was changed`},
		"a menu": {func(ctx context.Context, s genericiooptions.IOStreams) error {
			_, err := Choose(ctx, s, "Which cluster?", choices, 0)
			return err
		}, `no answer to "Which cluster?": end of input; nothing was changed`},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			err := tt.ask(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), ErrOut: &said})
			if err == nil || err.Error() != tt.want || CodeOf(err) != ExitUsage || !strings.HasSuffix(said.String(), "]: \n") {
				t.Errorf("got %v, said %q", err, &said)
			}
		})
	}
	// What was typed before it is an answer.
	got, err := AskFor(t.Context(), genericiooptions.IOStreams{In: strings.NewReader("ml"), ErrOut: io.Discard}, "namespace", "default")
	if got != "ml" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

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
	choices := []string{"connect: use a cluster", "create: make one", "arn:aws:eks"}
	for name, tt := range map[string]struct {
		typed []string
		want  int
	}{
		"a number":              {[]string{"3"}, 2},
		"nothing":               {[]string{""}, 1},
		"a word":                {[]string{"connect"}, 0},
		"a word with colons":    {[]string{"arn:aws:eks"}, 2},
		"a number out of range": {[]string{"4", "0", "x", "arn", "2"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			got, err := Choose(t.Context(), genericiooptions.IOStreams{In: &lines{tt.typed}, ErrOut: &out}, "What?", choices, 1)
			if got != tt.want || err != nil {
				t.Errorf("got %d, %v", got, err)
			}
			if !strings.HasPrefix(out.String(), "  1  connect: use a cluster\n  2  create: make one\n  3  arn:aws:eks\nWhat? [2]: ") || strings.Count(out.String(), "What? ") != len(tt.typed) {
				t.Errorf("asked %q", out.String())
			}
		})
	}
	if _, err := Choose(t.Context(), genericiooptions.IOStreams{In: &lines{[]string{"x", "x", "x", "x", "x"}}, ErrOut: io.Discard}, "What?", choices, 0); CodeOf(err) != ExitUsage {
		t.Errorf("nonsense: got %v", err)
	}
}
