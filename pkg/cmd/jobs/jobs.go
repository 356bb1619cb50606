// Package jobs is the command `kubectl kinetic jobs`. It has a sub-command for everything
// that can be done with a submitted job.
package jobs

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
)

type command struct {
	streams genericiooptions.IOStreams
	clock   clock.PassiveClock
	choice  jobFlags
	// debugJSON says that debug prints JSON.
	debugJSON bool
}

// NewCommand returns `kubectl kinetic jobs`. The clock is used for ages.
func NewCommand(streams genericiooptions.IOStreams, now clock.PassiveClock) *cobra.Command {
	c := &command{streams: streams, clock: now, choice: jobFlags{Connection: connect.NewFlags()}}
	c.choice.Connection.SetNotices(streams.ErrOut)
	// otherWords are the names that other tools have for our commands.
	otherWords := map[string][]string{
		"delete": {"cleanup", "cancel"}, "remove": {"cleanup", "cancel"}, "rm": {"cleanup", "cancel"},
		"kill": {"cancel"}, "stop": {"cancel"}, "get": {"describe", "list"}, "collect": {"result"}, "ps": {"list"}, "watch": {"top"}, "dashboard": {"top"},
		"info": {"describe"}, "inspect": {"describe"}, "show": {"describe"},
		"attach": {"logs", "shell"}, "follow": {"logs"}, "exec": {"shell"}, "ssh": {"shell"}, "sh": {"shell"}, "bash": {"shell"}, "port-forward": {"forward"}, "tunnel": {"forward"},
	}
	root := &cobra.Command{
		Use:         "jobs",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic jobs"},
		Short:       "List, follow, collect and clean up jobs",
		Long: "List, follow, collect and clean up jobs.\n\n" +
			"ID may be a full job ID, any unique prefix (of your own jobs, for cancel and cleanup),\n" +
			"or the last 7 characters.",
	}
	cli.OnlySubcommands(root, otherWords)
	for _, sub := range []*cobra.Command{
		c.list(), c.top(), c.status(), c.logs(), c.tail(), c.result(), c.wait(), c.cancel(), c.cleanup(), c.describe(), c.outputs(), c.prune(), c.debug(), c.stacks(), c.shell(), c.forward(), c.warm(),
	} {
		root.AddCommand(sub)
	}
	root.AddCommand(newVersionCommand(streams))
	cli.AddSections(root)
	return root
}

func (c *command) finish(sub *cobra.Command, sections ...cli.Section) *cobra.Command {
	cli.AddSections(sub, append(sections, c.choice.ConnectionSection())...)
	if sub.ValidArgsFunction == nil {
		sub.ValidArgsFunction = c.choice.CompleteIDs
	}
	return sub
}

// runE returns the RunE of a command whose toOptions checks the command line, without contacting
// anything.
func runE[O interface{ run(context.Context) error }](c *command, toOptions func(*command, []string) (O, error)) func(*cobra.Command, []string) error {
	return cli.RunE(func(ctx context.Context, args []string) error {
		o, err := toOptions(c, args)
		if err != nil {
			return err
		}
		return o.run(ctx)
	})
}
