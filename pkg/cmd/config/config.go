// Package config is the command `kubectl kinetic config`: it prints the settings that are in force,
// and where each comes from.
package config

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

const long = `Print the settings in effect, and where each comes from: a flag, a
variable, a profile, the kubeconfig or gcloud's configuration. Reads files only,
and contacts nothing.

Exit codes: 0 the settings were printed; 2 one of them is wrong.`

const examples = `  # what a job would use
  kubectl kinetic config

  # the same with a profile
  kubectl kinetic config --profile prod

  # one value, for a script
  kubectl kinetic config -o json | jq -r .store.value`

// show is the word that may follow config.
const show = "show"

type flags struct {
	output     string
	connection *connect.Flags
}

// NewCommand returns the command `kubectl kinetic config`.
func NewCommand(streams genericiooptions.IOStreams, _ clock.PassiveClock) *cobra.Command {
	f := &flags{connection: connect.NewFlags()}
	own := cli.NewSection("Flags")
	own.FormatVar(&f.output, "Output `FORMAT`: json or yaml.", cli.Formats()...)
	c := &cobra.Command{
		Use:               "config [show] [flags]",
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic config"},
		Short:             "Print the settings in effect, and where each comes from",
		Long:              long,
		Example:           examples,
		Args:              onlyShow,
		ValidArgsFunction: completeShow,
		RunE: cli.RunE(func(context.Context, []string) error {
			o, err := f.toOptions(streams, os.Getenv)
			if err != nil {
				return cli.Usage(err)
			}
			return o.run()
		}),
	}
	cli.AddSections(c, own, f.connection.Section())
	return c
}

func onlyShow(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 || len(args) == 1 && args[0] == show:
		return nil
	case args[0] == show:
		return cli.Usagef("config show takes no argument, got %q", args[1])
	case args[0] == "set":
		return cli.Usagef("config changes nothing: use `kubectl kinetic profile create`, or set a variable (docs/variables.md)")
	}
	return cli.Usagef("config %q: expected show, or nothing", args[0])
}

func completeShow(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{show + "\tThe same"}, cobra.ShellCompDirectiveNoFileComp
}

type options struct {
	streams  genericiooptions.IOStreams
	output   string
	settings settings
}

func (f *flags) toOptions(streams genericiooptions.IOStreams, env func(string) string) (*options, error) {
	all, err := read(f.connection, env)
	return &options{streams, f.output, all}, err
}

func (o *options) run() error {
	for _, warning := range o.settings.Warnings {
		fmt.Fprintln(o.streams.ErrOut, ui.Wrapped(o.streams.ErrOut, "warning: "+ui.Clean(warning)))
	}
	if o.output != "" {
		return cli.Write(o.streams.Out, o.output, o.settings)
	}
	table := ui.NewFitted(o.streams.Out, ui.Detect(o.streams.Out), true, ui.Column{Header: "setting"}, ui.Column{Header: "value", Text: true}, ui.Column{Header: "from", Text: true})
	for _, row := range o.settings.rows() {
		table.Row(row.name, row.Value, cmp.Or(row.From, "-"))
	}
	return table.Flush()
}
