package google

import (
	"context"
	"path"
	"slices"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// Others returns the other clusters of the project, in any location, that share something with this one:
// the name, from which all other names are made, the network, or the account of the nodes. listed reports
// whether the project has this one.
func (p *Project) Others(ctx context.Context) (others []*container.Cluster, listed bool, err error) {
	clusters, err := gke.AllClusters(ctx, p.access, p.Names.Project)
	if p.absent(ctx, err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	for _, c := range clusters {
		switch {
		case c.Name == p.Names.Cluster && c.Location == p.Names.Zone:
			listed = true
		case p.shares(c):
			others = append(others, c)
		}
	}
	return others, listed, nil
}

func (p *Project) shares(c *container.Cluster) bool {
	return c.Name == p.Names.Cluster || path.Base(c.Network) == p.Names.Network() || slices.Contains(accountsOf(c), p.Names.Email(config.NodesAccount))
}

// accountsOf returns the accounts of a cluster's nodes, also of those that it would add.
func accountsOf(c *container.Cluster) []string {
	var all []string
	for _, pool := range c.NodePools {
		if pool.Config != nil {
			all = append(all, pool.Config.ServiceAccount)
		}
	}
	if c.Autoscaling != nil && c.Autoscaling.AutoprovisioningNodePoolDefaults != nil {
		all = append(all, c.Autoscaling.AutoprovisioningNodePoolDefaults.ServiceAccount)
	}
	return all
}
