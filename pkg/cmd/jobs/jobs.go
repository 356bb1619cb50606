// Package jobs is the command `kubectl kinetic jobs`: everything that is done
// to a job by its id.
package jobs

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// command is what the sub-commands share.
type command struct {
	streams    genericiooptions.IOStreams
	clock      clock.PassiveClock
	connection *cli.Connection
	local      bool
}

// NewCommand is `kubectl kinetic jobs`. The clock tells ages.
func NewCommand(streams genericiooptions.IOStreams, now clock.PassiveClock) *cobra.Command {
	c := &command{streams: streams, clock: now, connection: cli.NewConnection()}
	root := &cobra.Command{
		Use:         "jobs",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic jobs"},
		Short:       "List, follow, collect and clean up jobs",
		Long: "List, follow, collect and clean up jobs.\n\n" +
			"A job is named by its id, or by any beginning of it that no other job has.",
		Args: func(root *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(root, args[0])
			}
			return nil
		},
		RunE: func(root *cobra.Command, _ []string) error { return root.Help() },
	}
	for _, sub := range []*cobra.Command{
		c.list(), c.status(), c.logs(), c.tail(), c.result(), c.wait(), c.cancel(), c.cleanup(), c.describe(),
	} {
		root.AddCommand(sub)
	}
	cli.AddSections(root)
	return root
}

// place is where the jobs are looked for.
func (c *command) place() (job.Place, error) {
	return cli.LocalPlace(c.connection.Target.Store, "")
}

// attach finds the job that the first argument names.
func (c *command) attach(ctx context.Context, id string) (*job.Job, error) {
	place, err := c.place()
	if err != nil {
		return nil, err
	}
	j, err := place.Attach(ctx, id)
	var unknown *job.IDError
	var newer *api.VersionError
	if errors.As(err, &unknown) || errors.As(err, &newer) {
		return nil, cli.Usage(err)
	}
	return j, err
}

// finish adds to a sub-command the flags that all have, and completion of ids.
func (c *command) finish(sub *cobra.Command, own cli.Section) *cobra.Command {
	where := c.connection.Section()
	where.Flags.BoolVar(&c.local, "local", false, "Look among the jobs of this machine. This version knows no others.")
	cli.AddSections(sub, own, where)
	if sub.ValidArgsFunction == nil {
		sub.ValidArgsFunction = c.completeIDs
	}
	return sub
}
