package up

import (
	"cmp"
	"context"
	"sync"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/stack"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// look reads what exists, and refuses what may not be used.
func (o *upOptions) look(ctx context.Context, e *stack.Stack) (infra.States, error) {
	var others []*container.Cluster
	var unpaid, unlisted error
	var asked sync.WaitGroup
	asked.Go(func() { unpaid = e.Project.CheckBilling(ctx) })
	asked.Go(func() { others, _, unlisted = e.Project.Others(ctx) })
	found, err := infra.Read(ctx, e.Resources)
	asked.Wait()
	if unpaid != nil {
		return nil, unpaid
	}
	if broken := e.Cluster.Usable(); broken != nil {
		return nil, broken
	}
	if err := cmp.Or(err, unlisted, infra.Taken(e.Items, found), o.refuseElsewhere(e, others)); err != nil {
		return nil, err
	}
	if e.Cluster.Last() == nil {
		if err := e.Project.CheckVPC(ctx, o.settings.VPC); err != nil {
			return nil, cli.Usage(err)
		}
	}
	if e.Cluster.Maker() == google.Someone && !o.force {
		return nil, cli.Usagef("there is a cluster %s in %s of project %s that was not made by `kubectl kinetic up`: choose another name with --cluster, or add what jobs need to that one with --force",
			e.Names.Cluster, e.Names.Zone, e.Names.Project)
	}
	if err := o.checkIdentity(e, found); err != nil {
		return nil, err
	}
	return found, o.checkMode(e.Cluster.Last())
}

// checkIdentity refuses a cluster without Workload Identity, unless that is changed: everything could be
// made, and no job could run.
func (o *upOptions) checkIdentity(e *stack.Stack, found infra.States) error {
	n := e.Names
	for _, d := range found[infra.ID{Kind: infra.KindCluster, Name: n.Cluster}].Differences {
		if d.Setting != google.Identity || d.Command == "" && o.reconcile {
			continue
		}
		enable := "with --reconcile"
		if d.Command != "" {
			enable = "first with: " + d.Command
		}
		return cli.Usagef("cluster %s has no Workload Identity, so no pod could act as the service account of jobs: enable it %s", n.Cluster, enable)
	}
	return nil
}

// refuseElsewhere returns an error if the project has a cluster of this name in another location: its
// service accounts, network and buckets would have the same names. A new cluster must not share them
// with one of another name either.
func (o *upOptions) refuseElsewhere(e *stack.Stack, others []*container.Cluster) error {
	n := e.Names
	for _, c := range others {
		if c.Name == n.Cluster {
			return cli.Usagef("project %s has a cluster %s in %s already, and one in %s would use the same service accounts, network and buckets: use that one with %s, or choose another name with --cluster",
				n.Project, c.Name, c.Location, n.Zone, o.flagsFor(c))
		}
	}
	if len(others) == 0 || e.Cluster.Last() != nil {
		return nil
	}
	return cli.Usagef("cluster %s in %s of project %s uses the network or the service account that a new cluster %s would have: choose another name with --cluster",
		others[0].Name, others[0].Location, n.Project, n.Cluster)
}

func (o *upOptions) flagsFor(c *container.Cluster) string {
	flags := "--zone " + c.Location
	switch autopilot := gke.IsAutopilot(c); {
	case autopilot && !o.settings.Autopilot:
		flags += " --autopilot"
	case !autopilot && o.settings.Autopilot:
		flags += " without --autopilot"
	}
	return flags
}
