package gke

import (
	"cmp"
	"fmt"

	"google.golang.org/api/container/v1"
)

// PodMetadata is the mode of nodes that give pods the identity of their own service account. In a cluster with
// Workload Identity GKE sets it for new pools, and leaves those alone that were there before.
const PodMetadata = "GKE_METADATA"

// Metadata returns what pods get from the metadata server of a pool's nodes: PodMetadata or, if they get the service
// account of the node, GKE's name for that.
func Metadata(p *container.NodePool) string {
	if p.Config == nil || p.Config.WorkloadMetadataConfig == nil {
		return "GCE_METADATA"
	}
	return cmp.Or(p.Config.WorkloadMetadataConfig.Mode, "GCE_METADATA")
}

// SetPodMetadata returns the command with which the nodes of a pool get PodMetadata. GKE replaces them for it.
func (c Cluster) SetPodMetadata(pool string) string {
	return fmt.Sprintf("gcloud container node-pools update %s --cluster=%s --location=%s --project=%s --workload-metadata=%s", pool, c.Name, c.Location, c.Project, PodMetadata)
}
