package process

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// canAsk reports whether someone at a terminal can answer questions.
func canAsk(streams genericiooptions.IOStreams) bool {
	in, ok := streams.In.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(in.Fd()))
}

// Ask asks a question on standard error and reports whether the answer is yes. The error is
// that of ctx.
func Ask(ctx context.Context, streams genericiooptions.IOStreams, question string) (bool, error) {
	fmt.Fprintf(streams.ErrOut, "%s [y/N] ", question)
	line, err := readLine(ctx, streams.In)
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", err
}

// AskFor asks for a value on standard error, and returns the answer, or standard if that is empty. The
// error is that of ctx.
func AskFor(ctx context.Context, streams genericiooptions.IOStreams, what, standard string) (string, error) {
	question := what
	if standard != "" {
		question += " [" + standard + "]"
	}
	fmt.Fprint(streams.ErrOut, question+": ")
	line, err := readLine(ctx, streams.In)
	return cmp.Or(strings.TrimSpace(line), standard), err
}

// Confirm asks whether to do what would be done. Unless the answer is yes, it prints what that means,
// and returns an exit code.
func Confirm(ctx context.Context, streams genericiooptions.IOStreams, would, otherwise string) error {
	yes, err := Ask(ctx, streams, would+". Continue?")
	if err != nil {
		fmt.Fprintln(streams.ErrOut, "\n"+otherwise)
		return Exit(ExitInterrupted)
	}
	if !yes {
		fmt.Fprintln(streams.ErrOut, otherwise)
		return Exit(ExitFailed)
	}
	return nil
}

// readLine reads a line, "" at the end of the input. The error is that of ctx.
func readLine(ctx context.Context, r io.Reader) (string, error) {
	lines := make(chan string, 1)
	go func() { // a terminal can't be read with a deadline; the process ends with it
		line, _ := bufio.NewReader(r).ReadString('\n')
		lines <- line
	}()
	select {
	case line := <-lines:
		return line, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
