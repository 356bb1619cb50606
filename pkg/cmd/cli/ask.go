package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// AskFor asks for a value on standard error, and returns the answer, or standard if that is empty. Whoever
// asks has not changed anything yet: the error is that of ctx or, if the input ends without an answer, one
// with the exit code for bad input.
func AskFor(ctx context.Context, streams genericiooptions.IOStreams, what, standard string) (string, error) {
	question := what
	if standard != "" {
		question += " [" + standard + "]"
	}
	line, err := prompt(ctx, streams, question+": ")
	if errors.Is(err, io.EOF) {
		return "", Usagef("no answer to %q: end of input; nothing was changed", what)
	}
	return cmp.Or(strings.TrimSpace(line), standard), err
}

// AskUntil is AskFor until check has no objection to the answer. It prints what check objects; after a few
// attempts, that is the error, with the exit code for bad input.
func AskUntil(ctx context.Context, streams genericiooptions.IOStreams, what, standard string, check func(answer string) error) (string, error) {
	const attempts = 5 // after that many wrong answers, nobody is reading the questions
	for n := 1; ; n++ {
		answer, err := AskFor(ctx, streams, what, standard)
		if err != nil {
			return "", err
		}
		if err = check(answer); err == nil {
			return answer, nil
		}
		if n == attempts {
			return "", Usage(err)
		}
		fmt.Fprintln(streams.ErrOut, err)
	}
}

// Choose lists some choices on standard error, asks which is meant, and returns its index. The answer is a
// number or the word before the colon of a choice; nothing means the choice standard.
func Choose(ctx context.Context, streams genericiooptions.IOStreams, question string, choices []string, standard int) (int, error) {
	for i, c := range choices {
		fmt.Fprintf(streams.ErrOut, "  %d  %s\n", i+1, c)
	}
	index := -1
	_, err := AskUntil(ctx, streams, question, strconv.Itoa(standard+1), func(answer string) error {
		index = slices.IndexFunc(choices, func(c string) bool { return c == answer || strings.HasPrefix(c, answer+": ") })
		if n, err := strconv.Atoi(answer); err == nil {
			index = n - 1
		}
		if index < 0 || index >= len(choices) {
			return fmt.Errorf("%q: expected a number from 1 to %d, or a word of the list", answer, len(choices))
		}
		return nil
	})
	return index, err
}

// Confirm asks on standard error whether to do what would be done. Unless the answer is yes, which the end of the input is
// not, it prints what that means, and returns an exit code.
func Confirm(ctx context.Context, streams genericiooptions.IOStreams, would, otherwise string) error {
	line, err := prompt(ctx, streams, would+". Continue? [y/N] ")
	if answer := strings.ToLower(strings.TrimSpace(line)); answer == "y" || answer == "yes" {
		return nil
	}
	fmt.Fprintln(streams.ErrOut, otherwise)
	if err != nil && !errors.Is(err, io.EOF) {
		return Exit(ExitInterrupted)
	}
	return Exit(ExitFailed)
}

// MustConfirm is Confirm for what needs a yes: if nobody can be asked, the error names the flag to confirm with.
func MustConfirm(ctx context.Context, streams genericiooptions.IOStreams, would, otherwise, flag string) error {
	if why := CannotAsk(streams); why != "" {
		return Usagef("%s; %s: confirm with %s", would, why, flag)
	}
	return Confirm(ctx, streams, would, otherwise)
}

// prompt prints a question, and returns the line that answers it. The error is that of ctx, or io.EOF if the
// input ends before the answer begins. What is printed next is on a line of its own.
func prompt(ctx context.Context, streams genericiooptions.IOStreams, question string) (string, error) {
	fmt.Fprint(streams.ErrOut, question)
	line, err := ReadLine(ctx, streams.In)
	if err != nil {
		fmt.Fprintln(streams.ErrOut)
	}
	return line, err
}

// ReadLine reads a line. It returns the error of ctx if that ends first, and io.EOF if there is no line.
func ReadLine(ctx context.Context, r io.Reader) (string, error) {
	return await(ctx, func() (string, error) { // a terminal can't be read with a deadline; the process ends with it
		line, _ := bufio.NewReader(r).ReadString('\n')
		if line == "" {
			return "", io.EOF
		}
		return line, nil
	})
}
