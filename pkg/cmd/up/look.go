package up

import (
	"cmp"
	"context"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
)

// look reads what exists, and refuses what may not be used.
func (o *upOptions) look(ctx context.Context, e *estate) (infra.States, error) {
	var others []*container.Cluster
	billing, listed := make(chan error, 1), make(chan error, 1)
	go func() { billing <- e.project.CheckBilling(ctx) }()
	go func() {
		var err error
		others, _, err = e.project.Others(ctx)
		listed <- err
	}()
	found, err := infra.Read(ctx, e.list)
	unpaid, unlisted := <-billing, <-listed
	if unpaid != nil {
		return nil, unpaid
	}
	if broken := e.cluster.Usable(); broken != nil {
		return nil, broken
	}
	if err := cmp.Or(err, unlisted, infra.Taken(e.items, found), o.refuseElsewhere(e, others)); err != nil {
		return nil, err
	}
	if e.cluster.Last() == nil {
		if err := e.project.CheckVPC(ctx, o.settings.VPC); err != nil {
			return nil, cli.Usage(err)
		}
	}
	if e.cluster.Maker() == google.Someone && !o.force {
		return nil, cli.Usagef("there is a cluster %s in %s of project %s that was not made by `kubectl kinetic up`: choose another name with --cluster, or add what jobs need to that one with --force",
			e.names.Cluster, e.names.Zone, e.names.Project)
	}
	if err := o.checkIdentity(e, found); err != nil {
		return nil, err
	}
	return found, o.checkMode(e.cluster.Last())
}

// checkIdentity refuses a cluster without Workload Identity, unless that is changed: everything could be
// made, and no job could run.
func (o *upOptions) checkIdentity(e *estate, found infra.States) error {
	n := e.names
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
func (o *upOptions) refuseElsewhere(e *estate, others []*container.Cluster) error {
	n := e.names
	for _, c := range others {
		if c.Name == n.Cluster {
			return cli.Usagef("project %s has a cluster %s in %s already, and one in %s would use the same service accounts, network and buckets: use that one with %s, or choose another name with --cluster",
				n.Project, c.Name, c.Location, n.Zone, o.flagsFor(c))
		}
	}
	if len(others) == 0 || e.cluster.Last() != nil {
		return nil
	}
	return cli.Usagef("cluster %s in %s of project %s uses the network or the service account that a new cluster %s would have: choose another name with --cluster",
		others[0].Name, others[0].Location, n.Project, n.Cluster)
}

// flagsFor returns the flags that name a cluster in another location.
func (o *upOptions) flagsFor(c *container.Cluster) string {
	flags := "--zone " + c.Location
	switch autopilot := isAutopilot(c); {
	case autopilot && !o.settings.Autopilot:
		flags += " --autopilot"
	case !autopilot && o.settings.Autopilot:
		flags += " without --autopilot"
	}
	return flags
}
