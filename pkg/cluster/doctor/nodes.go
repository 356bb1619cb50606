package doctor

import (
	"context"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

func (c *cloud) metadata(ctx context.Context) Finding {
	cluster, err := c.cluster(ctx)
	switch {
	case err != nil, cluster.WorkloadIdentityConfig == nil || cluster.WorkloadIdentityConfig.WorkloadPool == "":
		return Lacking(GKECheck)
	case gke.IsAutopilot(cluster): // GKE sets it for all nodes
		return Good("pods act as their own service account")
	}
	var pools, commands []string
	for _, p := range cluster.NodePools {
		if gke.Metadata(p) != gke.PodMetadata {
			pools, commands = append(pools, p.Name), append(commands, c.wanted().SetPodMetadata(p.Name))
		}
	}
	if len(pools) == 0 {
		return Good("pods act as their own service account")
	}
	return Bad(strings.Join(commands, " && "), "pods act as the service account of the node on %s, so jobs can lack access to the bucket, or have more rights than intended; GKE replaces these nodes for the change",
		strings.Join(pools, ", "))
}

// lifetime looks for nodes that GKE deletes while jobs run there.
func (c *cloud) lifetime(ctx context.Context) Finding {
	cluster, err := c.cluster(ctx)
	if err != nil {
		return Lacking(GKECheck)
	}
	if text := c.wanted().Lifetimes(cluster); text != "" && !gke.IsAutopilot(cluster) {
		return Skip("%s", text)
	}
	return Good("no pool limits it")
}
