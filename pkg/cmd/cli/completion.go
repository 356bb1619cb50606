package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// completionTime is how long a completion may take: nobody waits longer after pressing Tab.
const completionTime = 900 * time.Millisecond

func completes(args []string) bool { return len(args) > 0 && args[0] == cobra.ShellCompRequestCmd }

// silence takes standard input and error from this process and the programs that it starts,
// such as one that gets credentials: they would write on the line that is being typed, or wait
// for input. The front door takes the terminal itself.
func silence() {
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		os.Stdin, os.Stderr = null, null
	}
}

// corrected returns cobra's answer for some words. If cobra can't parse them it answers that
// files fit, but nothing does.
func corrected(answer []byte, root *cobra.Command, words []string) []byte {
	if string(answer) != fmt.Sprintf(":%d\n", cobra.ShellCompDirectiveDefault) || parses(root, words) {
		return answer
	}
	return fmt.Appendf(nil, ":%d\n", cobra.ShellCompDirectiveNoFileComp)
}

func parses(root *cobra.Command, words []string) bool {
	c, rest, err := root.Find(words)
	if err != nil || c.ParseFlags(rest) != nil {
		return false
	}
	return !c.HasAvailableSubCommands() || c.Flags().NArg() == 0
}

// Promptly returns what find finds for a completion. If that takes too long it returns an
// error, even if find does not heed its context.
func Promptly[T any](ctx context.Context, find func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	return await(ctx, func() (T, error) { return find(ctx) })
}

// await returns what do returns, or the error of ctx if that ends first. Then do goes on.
func await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return result{}.value, ctx.Err()
	}
}

// CompleteInOrder returns a completion that offers, in their order, the words that find returns for what is typed.
func CompleteInOrder(find func(typed string) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return find(typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}
