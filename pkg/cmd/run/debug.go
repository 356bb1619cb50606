package run

import (
	"errors"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/term"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
)

// noTerminal is the variable with which a command waits for a debugger without a terminal.
const noTerminal = "KINETIC_NO_TTY_DEBUG"

// checkDebug refuses to wait for a job that waits for a debugger where nobody sees that, such as in CI. A
// program that reads events sees it.
func checkDebug(streams genericiooptions.IOStreams, getenv func(string) string) error {
	attended := term.IsTerminal(streams.In) || term.IsTerminal(streams.Out) || term.IsTerminal(streams.ErrOut)
	if attended || event.Of(streams.ErrOut) != nil || getenv(noTerminal) != "" {
		return nil
	}
	return errors.New("--debug waits for a debugger, and there is no terminal: add --detach, then attach with kubectl kinetic jobs debug ID; " +
		noTerminal + "=1 waits all the same")
}
