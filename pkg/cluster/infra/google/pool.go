package google

import (
	"context"
	"fmt"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

type pool struct {
	cluster *Cluster
	id      infra.ID
	planned gke.Planned
}

// Get implements infra.Actor. The cluster has its pools with it.
func (p pool) Get(context.Context) (infra.State, error) {
	found := p.found()
	if found == nil {
		return infra.State{Detail: gke.Describe(p.planned.Pool)}, nil
	}
	s := infra.State{Exists: true, Detail: gke.Describe(found), Foreign: p.foreign(found)}
	switch found.Status {
	case "PROVISIONING":
		s.Pending = true
	case "ERROR": // GKE keeps a pool that it could not create
		s.Pending, s.Unready = true, "exists, but could not be created"
	case "STOPPING":
		s.Pending, s.Unready = true, "is being removed"
	}
	if text := gke.Difference(found, p.planned.Pool); text != "" {
		s.Differences = []infra.Difference{{Setting: "shape", Have: text, Want: gke.Describe(p.planned.Pool), Fixed: true}}
	}
	if has, wants := gke.Limits(found), p.planned.LimitsFor(found); has != wants {
		s.Differences = append(s.Differences, infra.Difference{Setting: "limits", Have: has.String(), Want: wants.String(),
			Command: setCommand(p.cluster.project.Names, found.Name, wants)})
	}
	return s, nil
}

// foreign reports whether someone else has made a pool. In a cluster of ours and of the Python package, all
// pools are ours.
func (p pool) foreign(found *container.NodePool) bool {
	return p.cluster.Maker() == Someone && (found.Config == nil || !Labelled(found.Config.ResourceLabels))
}

func gkeName(n config.Names) gke.Cluster {
	return gke.Cluster{Project: n.Project, Location: n.Zone, Name: n.Cluster}
}

func setCommand(n config.Names, pool string, s gke.Size) string {
	return fmt.Sprintf("kubectl kinetic pool set %s --min-nodes %d --max-nodes %d", pool, s.Min, s.Max) + gkeName(n).Flags()
}

// found returns the pool as it was read, nil if there is none.
func (p pool) found() *container.NodePool { return findPool(p.cluster.Last(), p.id.Name) }

func (p pool) Ensure(ctx context.Context, have infra.State) error {
	project := p.cluster.project
	client, err := gke.New(ctx, project.access, gkeName(project.Names))
	if err != nil {
		return err
	}
	client.Progress = func(text string) { project.Progress(p.id, text) }
	if found := p.found(); found != nil && len(have.Differences) > 0 {
		_, err = client.Resize(ctx, found, p.planned.LimitsFor(found))
		return err
	}
	cluster, err := p.cluster.Present(ctx)
	if err != nil {
		return err
	}
	p.planned.Fit(cluster) // it may be another one than that for which the pool was planned
	_, err = client.Create(ctx, p.planned)
	return err
}

// Delete implements infra.Actor. It goes with the cluster.
func (p pool) Delete(context.Context) error { return nil }
