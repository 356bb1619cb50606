package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/machine"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config/target"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// lookWithin limits how long GKE is asked for the cluster: without a network, the profile is saved all
// the same.
const lookWithin = 15 * time.Second

// find looks for the cluster in GKE. A cluster that does not exist is an error. It returns nil if that
// can't be known, which is told.
func (s *setup) find(ctx context.Context, where target.Target) (*container.Cluster, error) {
	found, err := s.read(ctx, where)
	var missing *gke.NoClusterError
	switch {
	case errors.As(err, &missing):
		next := fmt.Sprintf("kubectl kinetic up --project %s --zone %s --cluster %s", where.Project, where.Zone, where.Cluster)
		advice := "create it with: " + next
		if len(missing.Others) > 0 {
			advice = "choose one of them with --zone and --cluster, or " + advice
		}
		return nil, &transport.Explained{Of: api.KindNotFound, Do: next, Text: fmt.Sprintf("%v: %s", missing, advice)}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case disabled(err), isNotFound(err): // without GKE or the project there is no cluster
		return nil, err
	case err != nil:
		ui.New(s.streams.ErrOut, s.now.Now).Warn(fmt.Sprintf("it is not known whether there is a cluster %s: %v", where.Cluster, err))
		return nil, nil
	}
	return found, nil
}

// disabled reports whether an error says that an API is not enabled.
func disabled(err error) bool {
	name, _ := gcp.DisabledAPI(err)
	return name != ""
}

// isNotFound reports whether an error says that the project isn't there, or may not be used.
func isNotFound(err error) bool {
	var told *transport.Explained
	return errors.As(err, &told) && told.Of == api.KindNotFound
}

func (s *setup) read(ctx context.Context, where target.Target) (*container.Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	access, err := gcp.New(ctx, s.env)
	if err != nil {
		return nil, err
	}
	client, err := gke.New(ctx, access, gke.Cluster{Project: where.Project, Location: where.Zone, Name: where.Cluster})
	if err != nil {
		return nil, err
	}
	return client.Get(ctx)
}

// writeContext adds the cluster to the kubeconfig unless it is there, or was not found. If that is not
// possible, doctor has the command that does it.
func (s *setup) writeContext(ctx context.Context, where target.Target, found *container.Cluster) {
	if where.Context != "" || found == nil {
		return
	}
	name := target.Names{Project: where.Project, Zone: where.Zone, Cluster: where.Cluster}.Context()
	entry := machine.Context{Access: s.connection.Kubeconfig(), Name: name, Find: func(context.Context) ([]infra.Server, error) {
		return google.Servers(found)
	}}
	have, err := entry.Get(ctx)
	if err == nil {
		err = entry.Ensure(ctx, have)
	}
	if err != nil {
		ui.New(s.streams.ErrOut, s.now.Now).Warn(err.Error())
		return
	}
	s.connection.Reload()
	s.say("context " + name + ": added to the kubeconfig, whose current context stays as it is")
}
