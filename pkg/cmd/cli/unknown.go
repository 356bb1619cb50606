package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// OnlySubcommands makes parent a command that has only sub-commands: alone it prints its help, and an
// argument is an unknown sub-command. The error suggests known ones. otherWords maps names that
// other tools use to sub-commands.
func OnlySubcommands(parent *cobra.Command, otherWords map[string][]string) {
	parent.DisableFlagParsing = true // the error is about an unknown command, not about a flag of it
	parent.Args, parent.ValidArgsFunction = cobra.ArbitraryArgs, cobra.NoFileCompletions
	parent.RunE = func(parent *cobra.Command, args []string) error {
		if len(args) == 0 || slices.Contains(args, "-h") || slices.Contains(args, "--help") {
			return parent.Help()
		}
		return noCommand(parent, args, otherWords)
	}
}

func noCommand(parent *cobra.Command, args []string, otherWords map[string][]string) error {
	if flag, _, _ := strings.Cut(args[0], "="); strings.HasPrefix(flag, "-") {
		return Usagef("flags go after the command: %s COMMAND %s", parent.CommandPath(), flag)
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
