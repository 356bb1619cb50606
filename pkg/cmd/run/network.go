package run

import (
	"context"
	"fmt"
	"os"
	"time"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// networkWithin limits the wait for GKE's answer about the node pools.
const networkWithin = 10 * time.Second

// chooseNetwork decides what the hosts of a job with GPUs talk over: the network of their machines, if the job can have
// it and a node pool has it. The cluster, which may be nil, knows the names of networks.
func (o *options) chooseNetwork(ctx context.Context, p submit.Planned, cluster *kube.Cluster) submit.Planned {
	wanted, why := submit.WantedNetwork(p.Spec)
	given := p.Spec.Network != ""
	if wanted == "" {
		return p
	}
	if why == "" && given && (wanted != api.NetworkTCPXO || cluster == nil) {
		return p
	}
	var pool *container.NodePool
	if why == "" {
		pool, why = o.networkPool(ctx, p)
	}
	if why == "" && wanted == api.NetworkTCPXO && cluster != nil {
		p.Spec.PodNetworks, why = podNetworks(ctx, pool, cluster)
	}
	switch {
	case why == "":
		p.Spec.Network = wanted
	case given && p.Spec.Network == wanted && wanted != api.NetworkTCP:
		o.ui.Warn(fmt.Sprintf("--network %s: the pods get the networks vpc1 to vpc8, because %s", wanted, why))
	default:
		p.Spec.Network, p.PlainNetwork = "", why
	}
	return p
}

// settleNetwork chooses the network, and says what it is, which --explain does itself.
func (o *options) settleNetwork(ctx context.Context, p submit.Planned, cluster *kube.Cluster) submit.Planned {
	p = o.chooseNetwork(ctx, p, cluster)
	if text := networkText(p); text != "" && o.mode != modeExplain && accelerator.NetworkOf(p.Spec.Accelerator.MachineType) != accelerator.NoNetwork {
		o.ui.Note("network " + text)
	}
	return p
}

// networkPool returns the node pool whose nodes have the network of the job's machines, or why there is none. A mode
// that contacts nothing asks nobody.
func (o *options) networkPool(ctx context.Context, p submit.Planned) (*container.NodePool, string) {
	unknown := func(why string) (*container.NodePool, string) {
		wanted, _ := submit.WantedNetwork(p.Spec)
		return nil, fmt.Sprintf("%s; --network %s claims it anyway", why, wanted)
	}
	switch {
	case !p.Target.GKE:
		return unknown("the cluster is not known to be one of GKE")
	case !o.mode.contacts() && o.mode != modeExplain:
		return unknown("only a run asks which network the node pools have")
	}
	ctx, cancel := context.WithTimeout(ctx, networkWithin)
	defer cancel()
	found, err := readCluster(ctx, gke.Cluster{Project: p.Spec.Project, Location: p.Spec.Zone, Name: p.Spec.Cluster})
	if err != nil {
		return unknown("the node pools can't be read: " + err.Error())
	}
	return gke.NetworkPool(found, p.Spec)
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

// podNetworks returns the names of the networks of a pool, or why they are not known.
func podNetworks(ctx context.Context, pool *container.NodePool, cluster *kube.Cluster) ([]string, string) {
	bySubnetwork, err := cluster.DeviceNetworks(ctx)
	if err != nil {
		return nil, err.Error()
	}
	return gke.PodNetworks(pool, bySubnetwork)
}

// networkText says what the hosts of a job with GPUs talk over, and for plain TCP why; "" for other jobs.
func networkText(p submit.Planned) string {
	switch wanted, _ := submit.WantedNetwork(p.Spec); {
	case wanted == "":
		return ""
	case p.PlainNetwork != "":
		return api.NetworkTCP.Words() + ", because " + p.PlainNetwork
	}
	return p.Spec.Network.Words()
}
