package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
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
		hint := human.DidYouMean(args[0], names)
		switch meant := otherWords[args[0]]; {
		case meant != nil:
			hint = `did you mean "` + strings.Join(meant, `" or "`) + `"?`
		case hint == "":
			hint = "see " + parent.CommandPath() + " --help"
		}
		return Usagef("unknown command %q for %q; %s", args[0], parent.CommandPath(), hint)
	}
}

// otherForm returns what to type instead of a flag of keras-kinetic or kubectl that this command
// lacks, or "".
func otherForm(c *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	flags, name := c.Flags(), unknown.GetSpecifiedName()
	positive, negated := strings.CutPrefix(name, "no-")
	switch {
	case name == "preview" && flags.Lookup("dry-run") != nil:
		return "write --dry-run."
	case name == "preview" && flags.Lookup("yes") != nil:
		return "omit it: the command shows what it will change, and asks first."
	case negated && isBool(flags.Lookup(positive)):
		return "write --" + positive + "=false."
	case name == "cleanup-timeout", name == "cleanup-poll-interval":
		return "omit it: the command waits until the pods have ended."
	case positive == "force-destroy":
		return "buckets are kept unless kubectl kinetic down --delete-data deletes them."
	case name == "update-credentials":
		return "omit it: the credentials of docker login and gcloud are used."
	case name == "lines" && flags.Lookup("tail") != nil:
		return "write --tail."
	}
	return ""
}

func isBool(flag *pflag.Flag) bool { return flag != nil && flag.NoOptDefVal == "true" }
