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
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// command is what the sub-commands share.
type command struct {
	streams    genericiooptions.IOStreams
	clock      clock.PassiveClock
	connection *connect.Flags
	local      bool
	choice     choice
}

// NewCommand is `kubectl kinetic jobs`. The clock says ages.
func NewCommand(streams genericiooptions.IOStreams, now clock.PassiveClock) *cobra.Command {
	c := &command{streams: streams, clock: now, connection: connect.NewFlags()}
	c.connection.TellOn(streams.ErrOut)
	root := &cobra.Command{
		Use:         "jobs",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic jobs"},
		Short:       "List, follow, collect and clean up jobs",
		Long: "List, follow, collect and clean up jobs.\n\n" +
			"ID may be a full job ID, any unique prefix, or the last 7 characters.",
		// So that an unknown command is not told as an unknown flag of it.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		Args: func(root *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(root, args[0])
			}
			return nil
		},
		RunE: func(root *cobra.Command, _ []string) error { return root.Help() },
	}
	for _, sub := range []*cobra.Command{
		c.list(), c.status(), c.logs(), c.tail(), c.result(), c.wait(), c.cancel(), c.cleanup(), c.describe(), c.outputs(), c.debug(),
	} {
		root.AddCommand(sub)
	}
	process.AddSections(root)
	return root
}

// registry is where the jobs are looked for.
func (c *command) registry() (job.Registry, error) { return c.registryOf(false) }

// registryOf is registry, for all namespaces of a cluster or for one.
func (c *command) registryOf(allNamespaces bool) (job.Registry, error) {
	if c.local {
		return c.localRegistry()
	}
	return backend.JobsRegistry(c.connection, allNamespaces)
}

func (c *command) localRegistry() (job.Registry, error) {
	return backend.LocalJobsRegistry(c.connection)
}

// attach finds the job that a word names.
func (c *command) attach(ctx context.Context, id string) (*job.Job, error) {
	if j := c.localJob(ctx, id); j != nil {
		return j, nil
	}
	registry, err := c.registry()
	if err != nil {
		if j := c.storedJob(ctx, id, err); j != nil {
			return j, nil
		}
		return nil, err
	}
	j, err := registry.Attach(ctx, id)
	return j, unattached(err)
}

// storedJob is the job of exactly this id of which the store knows the end: it needs no
// cluster. why is what is wrong with that.
func (c *command) storedJob(ctx context.Context, id string, why error) *job.Job {
	if c.local {
		return nil
	}
	registry, err := backend.StoredRegistry(c.connection, why)
	if err != nil {
		return nil
	}
	j := registry.Exact(ctx, id)
	if j == nil {
		return nil
	}
	if _, ended := j.Ended(ctx); !ended {
		return nil
	}
	return j
}

// finder finds the jobs of a registry that words name.
type finder func(registry job.Registry, ctx context.Context, words []string) (found []*job.Job, failed []error)

// attachAll finds all jobs that are to be ended or removed, whatever is left of
// them. One that is not found does not protect the others: failed are the errors. Of a
// single ID that is the last result.
func (c *command) attachAll(ctx context.Context, ids []string, find finder) (found []*job.Job, failed []error, err error) {
	var others []string
	for _, id := range ids {
		if j := c.localJob(ctx, id); j != nil {
			found = append(found, j)
		} else {
			others = append(others, id)
		}
	}
	if len(others) == 0 {
		return found, nil, nil
	}
	registry, err := c.registry()
	if err != nil && len(found) == 0 {
		return nil, nil, err
	}
	if err != nil {
		return found, []error{err}, nil
	}
	rest, failed := find(registry, ctx, others)
	if len(ids) == 1 && len(failed) == 1 {
		return nil, nil, unattached(failed[0])
	}
	return append(found, rest...), failed, nil
}

// unattached gives errors about what was typed, or about this program's version,
// their exit code.
func unattached(err error) error {
	var unknown *job.IDError
	var newer *api.VersionError
	if errors.As(err, &unknown) || errors.As(err, &newer) {
		return process.Usage(err)
	}
	return err
}

// localJob is the local job of exactly this id: ids are unique, so that it can
// be named without --local.
func (c *command) localJob(ctx context.Context, id string) *job.Job {
	if c.local {
		return nil
	}
	registry, err := c.localRegistry()
	if err != nil {
		return nil
	}
	return registry.Exact(ctx, id)
}

// finish adds to a sub-command the flags that all have, and completion of ids.
func (c *command) finish(sub *cobra.Command, sections ...process.Section) *cobra.Command {
	where := c.connection.Section()
	where.Flags.BoolVar(&c.local, "local", false, "Use the jobs of this machine instead of a cluster. The full ID of a local job needs no flag.")
	process.AddSections(sub, append(sections, where)...)
	if sub.ValidArgsFunction == nil {
		sub.ValidArgsFunction = c.completeIDs
	}
	return sub
}
