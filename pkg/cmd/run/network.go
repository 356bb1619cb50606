package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/explain"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// networkWithin limits the wait for GKE's answer about the node pools.
const networkWithin = 10 * time.Second

// chooseNetwork decides what the hosts of a job with GPUs talk over: the network of their machines, if the job can have
// it and a node pool has it. The cluster, which may be nil, knows the names of networks. The error is why it is unknown
// whether a node pool has the network, for jobs that therefore get plain TCP.
func (o *options) chooseNetwork(ctx context.Context, p submit.Planned, cluster *kube.Cluster) (submit.Planned, error) {
	wanted, why := submit.WantedNetwork(p.Spec)
	given := p.Spec.Network != ""
	if wanted == "" {
		return p, nil
	}
	if why == "" && given && (wanted != api.NetworkTCPXO || cluster == nil) {
		return p, nil
	}
	var pool *container.NodePool
	var unknown error
	if why == "" {
		pool, why, unknown = o.networkPool(ctx, p)
	}
	if why == "" && unknown == nil && wanted == api.NetworkTCPXO && cluster != nil {
		p.Spec.PodNetworks, why, unknown = podNetworks(ctx, pool, cluster)
	}
	if unknown != nil {
		why, _, _ = strings.Cut(unknown.Error(), "\n")
	}
	switch {
	case why == "":
		p.Spec.Network = wanted
	case given && p.Spec.Network == wanted && wanted != api.NetworkTCP:
		o.ui.Warn(fmt.Sprintf("--network %s: the pods get the networks vpc1 to vpc8, because %s", wanted, why))
		return p, nil
	case unknown != nil:
		p.PlainNetwork = fmt.Sprintf("%s; --network %s uses %s without this check", why, wanted, wanted.Words())
	default:
		p.Spec.Network, p.PlainNetwork = "", why
	}
	return p, unknown
}

// settleNetwork chooses the network, and says what it is, which --explain does itself. It warns before a job that may
// be slow because nobody knows whether it could have another network, or because of its queue. The error is an interrupt.
func (o *options) settleNetwork(ctx context.Context, p submit.Planned, cluster *kube.Cluster) (submit.Planned, error) {
	p, unknown := o.chooseNetwork(ctx, p, cluster)
	if ctx.Err() != nil {
		return p, context.Cause(ctx)
	}
	text := explain.NetworkText(p)
	switch {
	case text == "" || o.mode == modeExplain || accelerator.NetworkOf(p.Spec.Accelerator.MachineType) == accelerator.NoNetwork:
	case (unknown != nil || submit.LosesNetwork(p.Spec)) && o.mode.submits():
		o.ui.Warn("network " + text)
	default:
		o.ui.Note("network " + text)
	}
	return p, nil
}

// networkPool returns the node pool whose nodes have the network of the job's machines, or why there is none, or an
// error if that is unknown. It asks GKE for a run and for --explain, and nobody for manifests.
func (o *options) networkPool(ctx context.Context, p submit.Planned) (pool *container.NodePool, why string, err error) {
	switch {
	case !p.Target.GKE:
		return nil, "", errors.New("the cluster is not known to be one of GKE")
	case !o.mode.contacts() && o.mode != modeExplain:
		return nil, "", errors.New("only a run looks up the network of the node pools")
	}
	ctx, cancel := context.WithTimeout(ctx, networkWithin)
	defer cancel()
	found, err := readCluster(ctx, gke.Cluster{Project: p.Spec.Project, Location: p.Spec.Zone, Name: p.Spec.Cluster})
	if err != nil {
		return nil, "", fmt.Errorf("the node pools can't be read: %w", err)
	}
	pool, why = gke.NetworkPool(found, p.Spec)
	return pool, why, nil
}

func readCluster(ctx context.Context, cluster gke.Cluster) (*container.Cluster, error) {
	access, err := gcp.New(ctx, os.Getenv)
	if err != nil {
		return nil, err
	}
	client, err := gke.New(ctx, access, cluster)
	if err != nil {
		return nil, err
	}
	return client.Get(ctx)
}

// podNetworks returns the names of the networks of a pool, or why the cluster does not have all of them, or an error
// if that is unknown.
func podNetworks(ctx context.Context, pool *container.NodePool, cluster *kube.Cluster) (names []string, why string, err error) {
	bySubnetwork, err := cluster.DeviceNetworks(ctx)
	if err != nil {
		return nil, "", err
	}
	names, why = gke.PodNetworks(pool, bySubnetwork)
	return names, why, nil
}
