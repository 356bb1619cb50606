package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestAsk(t *testing.T) {
	for typed, want := range map[string]bool{"y\nmore": true, " YES \n": true, "y": true, "n\n": false, "\n": false, "": false, "yesterday\n": false} {
		var said bytes.Buffer
		streams := genericiooptions.IOStreams{In: strings.NewReader(typed), ErrOut: &said}
		asked := "Continue? [y/N] "
		if typed == "" {
			asked += "\n" // what follows is on a line of its own
		}
		if got, err := Ask(t.Context(), streams, "Continue?"); got != want || err != nil || said.String() != asked {
			t.Errorf("%q: got %v, %v, said %q", typed, got, err, &said)
		}
		if canAsk(streams) {
			t.Error("what is no terminal can answer")
		}
	}
	// Ctrl-C at the question is an answer.
	silent, _ := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Ask(ctx, genericiooptions.IOStreams{In: silent, ErrOut: io.Discard}, "Continue?"); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: got %v", err)
	}
}

// The end of the input takes no default, since nobody has chosen it.
func TestTheEndOfTheInputIsNoAnswer(t *testing.T) {
	choices := []Choice{{"connect", ""}, {"create", ""}}
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
