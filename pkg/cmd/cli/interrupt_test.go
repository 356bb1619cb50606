package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// What a signal cuts short is not blamed on the network, and other errors stay.
func TestInterruptedCommand(t *testing.T) {
	signalled := errors.New("interrupt signal received")
	for name, c := range map[string]struct {
		err  error
		code int
		said string
	}{
		"a request":               {fmt.Errorf("check the network: %w", signalled), ExitInterrupted, "error: interrupted\n"},
		"a job it did not find":   {Usagef("no such job; the API server can't be reached: %w", signalled), ExitInterrupted, "error: interrupted\n"},
		"a wait":                  {fmt.Errorf("waiting: %w", context.Canceled), ExitInterrupted, "error: interrupted\n"},
		"something that went bad": {errors.New("forbidden"), ExitFailed, "error: forbidden\n"},
		"what has been said":      {Exit(ExitTimeout), ExitTimeout, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			root := &cobra.Command{Use: "x", RunE: RunE(func(context.Context, []string) error {
				cancel(signalled)
				return c.err
			})}
			var said bytes.Buffer
			code := Run(ctx, root, nil, genericiooptions.IOStreams{In: &said, Out: &said, ErrOut: &said})
			if code != c.code || said.String() != c.said {
				t.Errorf("exit code %d and %q, want %d and %q", code, &said, c.code, c.said)
			}
		})
	}
}
