package up

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/availability"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/infra/cloud"
	"github.com/kubectl-kinetic/kinetic/pkg/target"
)

// completeAccelerator offers the accelerators of the catalogue.
func completeAccelerator(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	return accelerator.CompletePool(word), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeZone offers the zones of the project, and their regions.
func (c *command) completeZone(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, _ := process.Promptly(cmd.Context(), c.zones) // none, if they can't be read
	return all, cobra.ShellCompDirectiveNoFileComp
}

func (c *command) zones(ctx context.Context) ([]string, error) {
	t, err := c.connection.ResolveStored()
	if err != nil {
		return nil, err
	}
	access, err := gcp.New(ctx, os.Getenv)
	if err != nil {
		return nil, err
	}
	usual := availability.Machine{Type: usualMachine}
	found, err := availability.Zones(ctx, access, t.Project, []availability.Machine{usual})
	if err != nil {
		return nil, err
	}
	var all []string
	for _, zone := range found[usual] {
		all = append(all, zone, target.Region(zone))
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// completeNetwork offers the networks of the project.
func (c *command) completeNetwork(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return c.completeFrom(cmd, func(ctx context.Context, p *cloud.Project) ([]string, error) { return p.NetworkNames(ctx) })
}

// completeSubnet offers the subnets of a network.
func (c *command) completeSubnet(cmd *cobra.Command, network string) ([]string, cobra.ShellCompDirective) {
	return c.completeFrom(cmd, func(ctx context.Context, p *cloud.Project) ([]string, error) { return p.SubnetNames(ctx, network) })
}

// completeFrom offers what the project has; nothing, if that can't be read.
func (c *command) completeFrom(cmd *cobra.Command, read func(context.Context, *cloud.Project) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	all, _ := process.Promptly(cmd.Context(), func(ctx context.Context) ([]string, error) {
		p, err := c.project(ctx)
		if err != nil {
			return nil, err
		}
		return read(ctx, p)
	})
	return all, cobra.ShellCompDirectiveNoFileComp
}

// project returns the project of the command line.
func (c *command) project(ctx context.Context) (*cloud.Project, error) {
	t, err := c.connection.ResolveStored()
	if err != nil {
		return nil, err
	}
	access, err := gcp.New(ctx, os.Getenv)
	if err != nil {
		return nil, err
	}
	return cloud.New(ctx, access, infra.Names{Project: t.Project, Zone: t.Zone, Cluster: t.Cluster})
}
