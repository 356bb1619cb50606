package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Choice is one of a list that people choose from: a word, and what it means.
type Choice struct{ Word, About string }

// Choose asks on standard error which of some choices is meant, and returns its index. The answer is a
// number, or the beginning of a word that no other one has; nothing means the choice standard. It asks
// again a few times until it understands the answer.
func Choose(ctx context.Context, streams genericiooptions.IOStreams, question string, choices []Choice, standard int) (int, error) {
	width := 0
	for _, c := range choices {
		width = max(width, len(c.Word))
	}
	fmt.Fprintln(streams.ErrOut, question)
	for i, c := range choices {
		fmt.Fprintln(streams.ErrOut, strings.TrimRight(fmt.Sprintf("  %d  %-*s  %s", i+1, width, c.Word, c.About), " "))
	}
	index := -1
	ask := func() (string, error) { return askFor(ctx, streams, question, "number", strconv.Itoa(standard+1)) }
	_, err := until(ctx, streams, ask, func(answer string) error {
		var found bool
		if index, found = chosen(choices, answer); !found {
			return fmt.Errorf("%q: expected a number from 1 to %d, or a word of the list", answer, len(choices))
		}
		return nil
	})
	return max(0, index), err
}

// attempts limits how often a question is asked: after that many wrong answers, nobody is reading the questions.
const attempts = 5

// AskUntil is AskFor until check has no objection to the answer. It prints what check objects; after a few
// attempts, that is the error, with the exit code for bad input.
func AskUntil(ctx context.Context, streams genericiooptions.IOStreams, what, standard string, check func(answer string) error) (string, error) {
	return until(ctx, streams, func() (string, error) { return AskFor(ctx, streams, what, standard) }, check)
}

// until asks until check has no objection to the answer.
func until(ctx context.Context, streams genericiooptions.IOStreams, ask func() (string, error), check func(answer string) error) (string, error) {
	for n := 1; ; n++ {
		answer, err := ask()
		if err != nil {
			return "", err
		}
		err = check(answer)
		switch {
		case err == nil:
			return answer, nil
		case ctx.Err() != nil:
			return "", ctx.Err()
		case n == attempts:
			return "", Usage(err)
		}
		fmt.Fprintln(streams.ErrOut, err)
	}
}

// chosen returns the choice that an answer means.
func chosen(choices []Choice, answer string) (int, bool) {
	if n, err := strconv.Atoi(answer); err == nil {
		return n - 1, n >= 1 && n <= len(choices)
	}
	match := -1
	for i, c := range choices {
		if strings.EqualFold(c.Word, answer) {
			return i, true
		}
		if answer != "" && strings.HasPrefix(strings.ToLower(c.Word), strings.ToLower(answer)) {
			if match >= 0 {
				return 0, false
			}
			match = i
		}
	}
	return match, match >= 0
}
