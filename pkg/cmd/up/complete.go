package up

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

func completeAccelerator(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	return accelerator.CompletePool(word), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completer offers what the project of the command line has.
type completer struct{ connection *connect.Flags }

// zone offers the zones of the project, and their regions.
func (c completer) zone(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return completeFrom(cmd, c.zones)
}

func (c completer) zones(ctx context.Context) ([]string, error) {
	t, access, err := c.access(ctx)
	if err != nil {
		return nil, err
	}
	usual := gke.Machine{Type: usualMachine}
	found, err := gke.Zones(ctx, access, t.Project, []gke.Machine{usual})
	if err != nil {
		return nil, err
	}
	var all []string
	for _, name := range found[usual] {
		all = append(all, name, config.Region(name))
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func (c completer) network(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return completeFrom(cmd, c.ofProject(func(ctx context.Context, p *google.Project) ([]string, error) { return p.NetworkNames(ctx) }))
}

func (c completer) subnet(cmd *cobra.Command, network string) ([]string, cobra.ShellCompDirective) {
	return completeFrom(cmd, c.ofProject(func(ctx context.Context, p *google.Project) ([]string, error) { return p.SubnetNames(ctx, network) }))
}

// completeFrom offers what the project has; nothing, if that can't be read.
func completeFrom(cmd *cobra.Command, read func(context.Context) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	all, _ := cli.Promptly(cmd.Context(), read)
	return all, cobra.ShellCompDirectiveNoFileComp
}

func (c completer) ofProject(read func(context.Context, *google.Project) ([]string, error)) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		t, access, err := c.access(ctx)
		if err != nil {
			return nil, err
		}
		p, err := google.New(ctx, access, config.Names{Project: t.Project, Zone: t.Zone, Cluster: t.Cluster})
		if err != nil {
			return nil, err
		}
		return read(ctx, p)
	}
}

// Access returns what the command line names, and access to its project.
func (c completer) access(ctx context.Context) (config.Target, *gcp.Access, error) {
	t, err := c.connection.ResolveStored()
	if err != nil {
		return t, nil, err
	}
	access, err := gcp.New(ctx, os.Getenv)
	return t, access, err
}
