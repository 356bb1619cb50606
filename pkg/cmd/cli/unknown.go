package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/suggest"
)

// NoCommand is for a command that has only sub-commands: an argument is then an unknown
// sub-command. The error suggests known ones. otherWords maps names that other tools use to
// sub-commands.
func NoCommand(otherWords map[string][]string) cobra.PositionalArgs {
	return func(parent *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var names []string
		for _, sub := range parent.Commands() {
			names = append(names, sub.Name())
		}
		hint := suggest.Sentence(args[0], names)
		switch meant := otherWords[args[0]]; {
		case meant != nil:
			hint = `did you mean "` + strings.Join(meant, `" or "`) + `"?`
		case hint == "":
			hint = "see " + parent.CommandPath() + " --help"
		}
		return Usagef("unknown command %q for %q; %s", args[0], parent.CommandPath(), hint)
	}
}
