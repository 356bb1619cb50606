package google

import (
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// The upgrades that a cluster has no part in: those of nodes, which end what runs there, and those to another
// minor version, after which nodes must follow. Google's own examples for clusters with accelerators have the same
// exclusion (github.com/GoogleCloudPlatform/cluster-toolkit, examples/gke-a4). It needs a release channel, and
// holds until GKE no longer supports the version.
const (
	exclusion      = "jobs"
	exclusionSince = "2026-01-01T00:00:00Z" // only that it has begun matters
	exclusionScope = "NO_MINOR_OR_NODE_UPGRADES"
	exclusionEnd   = "UNTIL_END_OF_SUPPORT"
)

func (c *Cluster) wanted() *container.Cluster {
	n := c.project.Names
	labels := gke.ResourceLabels()
	labels[madeBy] = n.Cluster
	cluster := &container.Cluster{
		Name: n.Cluster, ResourceLabels: labels, Network: n.Network(), Subnetwork: n.Network(),
		ReleaseChannel:         &container.ReleaseChannel{Channel: Channel},
		WorkloadIdentityConfig: &container.WorkloadIdentityConfig{WorkloadPool: n.IdentityPool()},
		AddonsConfig:           &container.AddonsConfig{GcsFuseCsiDriverConfig: &container.GcsFuseCsiDriverConfig{Enabled: true}},
		IpAllocationPolicy:     &container.IPAllocationPolicy{UseIpAliases: true},
		NetworkConfig:          &container.NetworkConfig{DefaultEnablePrivateNodes: true},
		ControlPlaneEndpointsConfig: &container.ControlPlaneEndpointsConfig{
			DnsEndpointConfig: &container.DNSEndpointConfig{AllowExternalTraffic: true}, IpEndpointsConfig: c.settings.Endpoints.config()},
		Autoscaling:   &container.ClusterAutoscaling{AutoscalingProfile: profile},
		LoggingConfig: &container.LoggingConfig{ComponentConfig: &container.LoggingComponentConfig{EnableComponents: []string{"SYSTEM_COMPONENTS", "WORKLOADS"}}},
	}
	if c.settings.VPC.Chosen() {
		c.settings.VPC.set(cluster)
	}
	if c.settings.Autopilot {
		cluster.Autopilot = &container.Autopilot{Enabled: true}
		cluster.Autoscaling = &container.ClusterAutoscaling{AutoprovisioningNodePoolDefaults: &container.AutoprovisioningNodePoolDefaults{
			ServiceAccount: n.Email(config.NodesAccount), OauthScopes: []string{scope}}}
		return cluster
	}
	cluster.NodePools = []*container.NodePool{c.FirstPool()}
	// GKE decides these itself on Autopilot. Both must be there before the first node pool whose accelerators have
	// networks of their own, and can't be changed.
	cluster.NetworkConfig.DatapathProvider, cluster.NetworkConfig.EnableMultiNetworking = gke.DataplaneV2, true
	cluster.MaintenancePolicy = maintenance()
	// The use of GPUs and TPUs is among the metrics of the system, which are free. Those of DCGM are paid by sample.
	cluster.MonitoringConfig = &container.MonitoringConfig{ComponentConfig: &container.MonitoringComponentConfig{EnableComponents: []string{"SYSTEM_COMPONENTS"}}}
	return cluster
}

// FirstPool returns the request for the pool whose nodes run what the cluster itself needs.
func (c *Cluster) FirstPool() *container.NodePool {
	return &container.NodePool{
		Name: firstPool, InitialNodeCount: 1,
		Config: &container.NodeConfig{
			MachineType: c.settings.Machine, DiskSizeGb: firstDisk, ServiceAccount: c.project.Names.Email(config.NodesAccount), OauthScopes: []string{scope},
			ResourceLabels:         gke.ResourceLabels(),
			WorkloadMetadataConfig: &container.WorkloadMetadataConfig{Mode: gke.PodMetadata},
			GcfsConfig:             &container.GcfsConfig{Enabled: true},
			ShieldedInstanceConfig: &container.ShieldedInstanceConfig{EnableSecureBoot: true, EnableIntegrityMonitoring: true},
		},
		Autoscaling: gke.Autoscaling(gke.Size{Min: 1, Max: c.settings.MaxNodes}),
		Management:  &container.NodeManagement{AutoRepair: true, AutoUpgrade: true},
	}
}

// maintenance returns the policy that leaves nodes alone on which jobs run for days.
func maintenance() *container.MaintenancePolicy {
	return &container.MaintenancePolicy{Window: &container.MaintenanceWindow{MaintenanceExclusions: map[string]container.TimeWindow{
		exclusion: {StartTime: exclusionSince, MaintenanceExclusionOptions: &container.MaintenanceExclusionOptions{Scope: exclusionScope, EndTimeBehavior: exclusionEnd}},
	}}}
}

// leavesNodesAlone reports whether GKE upgrades no nodes of a cluster by itself, as long as it supports their version.
func leavesNodesAlone(c *container.Cluster) bool {
	if c.MaintenancePolicy == nil || c.MaintenancePolicy.Window == nil {
		return false
	}
	for _, window := range c.MaintenancePolicy.Window.MaintenanceExclusions {
		if o := window.MaintenanceExclusionOptions; o != nil && o.EndTimeBehavior == exclusionEnd && (o.Scope == exclusionScope || o.Scope == "NO_UPGRADES") {
			return true
		}
	}
	return false
}
