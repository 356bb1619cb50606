package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/term"
)

// canAsk reports whether someone at a terminal can answer questions.
func canAsk(streams genericiooptions.IOStreams) bool { return term.IsTerminal(streams.In) }

// Ask asks a question on standard error and reports whether the answer is yes, which the end of the input
// is not. The error is that of ctx.
func Ask(ctx context.Context, streams genericiooptions.IOStreams, question string) (bool, error) {
	line, err := prompt(ctx, streams, question+" [y/N] ")
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", err
}

// AskFor asks for a value on standard error, and returns the answer, or standard if that is empty. Whoever
// asks has not changed anything yet: the error is that of ctx or, if the input ends without an answer, one
// with the exit code for bad input.
func AskFor(ctx context.Context, streams genericiooptions.IOStreams, what, standard string) (string, error) {
	return askFor(ctx, streams, what, what, standard)
}

// askFor is AskFor with the name that the question has in the error.
func askFor(ctx context.Context, streams genericiooptions.IOStreams, name, what, standard string) (string, error) {
	question := what
	if standard != "" {
		question += " [" + standard + "]"
	}
	line, err := prompt(ctx, streams, question+": ")
	if errors.Is(err, io.EOF) {
		return "", Usagef("no answer to %q: end of input; nothing was changed", name)
	}
	return cmp.Or(strings.TrimSpace(line), standard), err
}

// Confirm asks whether to do what would be done. Unless the answer is yes, it prints what that means,
// and returns an exit code.
func Confirm(ctx context.Context, streams genericiooptions.IOStreams, would, otherwise string) error {
	yes, err := Ask(ctx, streams, would+". Continue?")
	if err != nil {
		fmt.Fprintln(streams.ErrOut, otherwise)
		return Exit(ExitInterrupted)
	}
	if !yes {
		fmt.Fprintln(streams.ErrOut, otherwise)
		return Exit(ExitFailed)
	}
	return nil
}

// prompt prints a question, and returns the line that answers it. The error is that of ctx, or io.EOF if the
// input ends before the answer begins. What is printed next is on a line of its own.
func prompt(ctx context.Context, streams genericiooptions.IOStreams, question string) (string, error) {
	fmt.Fprint(streams.ErrOut, question)
	line, err := readLine(ctx, streams.In)
	if err != nil {
		fmt.Fprintln(streams.ErrOut)
	}
	return line, err
}

// readLine reads a line. The error is that of ctx, or io.EOF if there is none.
func readLine(ctx context.Context, r io.Reader) (string, error) {
	lines := make(chan string, 1)
	go func() { // a terminal can't be read with a deadline; the process ends with it
		line, _ := bufio.NewReader(r).ReadString('\n')
		lines <- line
	}()
	select {
	case line := <-lines:
		if line == "" {
			return "", io.EOF
		}
		return line, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
