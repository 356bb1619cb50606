package process

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
		if got, err := Ask(t.Context(), streams, "Continue?"); got != want || err != nil || said.String() != "Continue? [y/N] " {
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
