// Package profile is the command `kubectl kinetic profile`: named clusters that replace flags.
package profile

import (
	"context"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
)

const long = `Manage profiles: names for a project, a zone, a cluster and a namespace, which
replace flags. The file is ~/.kinetic/profiles.json, which keras-kinetic uses too.

A flag counts before its variable, and both count before the profile. --profile
chooses a profile for one command, KINETIC_PROFILE for a shell, and the current
profile counts for all others.

Exit codes: 0 done; 1 the file can't be written; 2 the command line or the file
is wrong and nothing was changed.`

const examples = `  # a profile of the cluster that kubectl uses now
  kubectl kinetic profile create dev

  # one of another cluster, and a job there
  kubectl kinetic profile create prod --project my-project --zone us-central1-a --cluster big
  kubectl kinetic run train.py:train --profile prod

  # for all that follows
  kubectl kinetic profile use prod`

// nameFormat is a format of --output besides those of package document.
const nameFormat = "name"

type command struct {
	streams genericiooptions.IOStreams
	env     func(string) string
	output  string
}

// NewCommand returns the command `kubectl kinetic profile`.
func NewCommand(streams genericiooptions.IOStreams, _ clock.PassiveClock) *cobra.Command {
	root := &cobra.Command{
		Use:         "profile",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic profile"},
		Short:       "Manage profiles: named clusters that replace flags",
		Long:        long,
		Example:     examples,
	}
	cli.OnlySubcommands(root, map[string][]string{"delete": {"rm"}, "add": {"create"}, "get": {"show"}, "switch": {"use"}})
	cli.AddSections(root)
	root.AddCommand(list(streams), use(streams), unset(streams), create(streams), remove(streams), show(streams))
	return root
}

func newCommand(streams genericiooptions.IOStreams) *command {
	return &command{streams: streams, env: os.Getenv}
}

func (c *command) outputSection() cli.Section {
	own := cli.NewSection("Flags")
	own.FormatVar(&c.output, "Output `FORMAT`: json, yaml or name.", append(cli.Formats(), nameFormat)...)
	return own
}

// connections returns the connection flags for a command that ignores them: it only reads or changes the file.
func connections() cli.Section {
	s := connect.NewFlags().Section()
	s.Flags.VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	return s
}

// named is a sub-command that takes the name of a profile, or none if least is 0.
func (c *command) named(sub *cobra.Command, least int, do func(ctx context.Context, name string) error, sections ...cli.Section) *cobra.Command {
	name := sub.Name()
	sub.Args = func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) > 1:
			return cli.Usagef("profile %s takes one name, got %q and %q", name, args[0], args[1])
		case len(args) < least:
			return cli.Usagef("profile %s: expected the name of a profile; `kubectl kinetic profile ls` lists them", name)
		}
		return nil
	}
	if sub.ValidArgsFunction == nil {
		sub.ValidArgsFunction = connect.CompleteProfiles
	}
	sub.RunE = cli.RunE(func(ctx context.Context, args []string) error {
		given := ""
		if len(args) == 1 {
			given = args[0]
		}
		return do(ctx, given)
	})
	cli.AddSections(sub, sections...)
	return sub
}
