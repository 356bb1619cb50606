package google

import (
	"fmt"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// Identity is the setting of a cluster by which pods act as service accounts. No job can use the store
// without it.
const Identity = "Workload Identity"

// difference is a setting of a cluster that differs, and the update that changes it, nil if there is
// none.
type difference struct {
	infra.Difference
	update *container.ClusterUpdate
	// option is that of gcloud for the same change, "" if there is none.
	option string
}

// differences compares a cluster with what jobs need. GKE sets all of it on Autopilot itself.
func (s Settings) differences(found *container.Cluster, n config.Names) []difference {
	var all []difference
	add := func(setting, have, want, option string, update *container.ClusterUpdate) {
		if have != want {
			all = append(all, difference{infra.Difference{Setting: setting, Have: have, Want: want, Fixed: update == nil}, update, option})
		}
	}
	all = append(all, s.ofEndpoints(found)...)
	all = append(all, s.VPC.differences(found, n)...)
	autopilot := gke.IsAutopilot(found)
	if autopilot { // also if it was not asked for
		return all
	}
	if s.Autopilot {
		add("mode", "Standard", "Autopilot", "", nil)
	}
	pool := ""
	if found.WorkloadIdentityConfig != nil {
		pool = found.WorkloadIdentityConfig.WorkloadPool
	}
	add(Identity, pool, n.IdentityPool(), "--workload-pool="+n.IdentityPool(), &container.ClusterUpdate{
		DesiredWorkloadIdentityConfig: &container.WorkloadIdentityConfig{WorkloadPool: n.IdentityPool()}})
	driver := found.AddonsConfig != nil && found.AddonsConfig.GcsFuseCsiDriverConfig != nil && found.AddonsConfig.GcsFuseCsiDriverConfig.Enabled
	add("Cloud Storage FUSE driver", onOff(driver), onOff(true), "--update-addons=GcsFuseCsiDriver=ENABLED", &container.ClusterUpdate{
		DesiredAddonsConfig: &container.AddonsConfig{GcsFuseCsiDriverConfig: &container.GcsFuseCsiDriverConfig{Enabled: true}}})
	scaling := ""
	if found.Autoscaling != nil {
		scaling = found.Autoscaling.AutoscalingProfile
	}
	add("autoscaling profile", scaling, profile, "--autoscaling-profile=optimize-utilization", &container.ClusterUpdate{
		DesiredClusterAutoscaling: withProfile(found.Autoscaling)})
	network := &container.NetworkConfig{}
	if found.NetworkConfig != nil {
		network = found.NetworkConfig
	}
	add("Dataplane V2", onOff(network.DatapathProvider == gke.DataplaneV2), onOff(true), "", nil)
	add("multi-networking", onOff(network.EnableMultiNetworking), onOff(true), "", nil)
	if d, differs := ofUpgrades(found, n); differs {
		all = append(all, d)
	}
	all = append(all, ofMetadata(found, n)...)
	return append(all, s.ofFirstPool(findPool(found, firstPool), n)...)
}

// ofMetadata returns the node pools whose pods get the service account of the node: 403 from the store, or more rights
// than jobs should have. `up` leaves it to the user, since GKE replaces all nodes of the pool.
func ofMetadata(found *container.Cluster, n config.Names) []difference {
	var all []difference
	for _, p := range found.NodePools {
		if has := gke.Metadata(p); has != gke.PodMetadata {
			all = append(all, difference{infra.Difference{Setting: "metadata of node pool " + p.Name, Have: has, Want: gke.PodMetadata, Fixed: true,
				Command: gkeName(n).SetPodMetadata(p.Name)}, nil, ""})
		}
	}
	return all
}

// ofUpgrades returns how a cluster differs in when GKE upgrades its nodes. Without a release channel it can't have
// the exclusion.
func ofUpgrades(found *container.Cluster, n config.Names) (d difference, differs bool) {
	if found.ReleaseChannel == nil || found.ReleaseChannel.Channel == "" || found.ReleaseChannel.Channel == "UNSPECIFIED" || leavesNodesAlone(found) {
		return difference{}, false
	}
	command := fmt.Sprintf("gcloud container clusters update %s --location=%s --project=%s --add-maintenance-exclusion-name=%s --add-maintenance-exclusion-scope=%s --add-maintenance-exclusion-until-end-of-support",
		n.Cluster, n.Zone, n.Project, exclusion, strings.ToLower(exclusionScope))
	return difference{infra.Difference{Setting: "upgrades of nodes", Have: "at any time", Want: "none until support for their version ends", Fixed: true, Command: command}, nil, ""}, true
}

// ofFirstPool compares the first pool with what the user has chosen about it. Clusters of others may
// have none of that name.
func (s Settings) ofFirstPool(p *container.NodePool, n config.Names) []difference {
	var all []difference
	if p == nil || p.Config == nil {
		return nil
	}
	if s.MachineGiven && p.Config.MachineType != s.Machine {
		command := fmt.Sprintf("gcloud container node-pools update %s --cluster=%s --location=%s --project=%s --machine-type=%s", firstPool, n.Cluster, n.Zone, n.Project, s.Machine)
		all = append(all, difference{
			infra.Difference{Setting: "machine type of " + firstPool, Have: p.Config.MachineType, Want: s.Machine, Fixed: true, Command: command}, nil, ""})
	}
	if has := gke.Limits(p); s.MaxNodesGiven && has.Max != s.MaxNodes {
		wants := gke.Size{Min: min(has.Min, s.MaxNodes), Max: s.MaxNodes}
		all = append(all, difference{
			infra.Difference{Setting: "limits of " + firstPool, Have: has.String(), Want: wants.String(), Command: setCommand(n, firstPool, wants)},
			&container.ClusterUpdate{DesiredNodePoolId: firstPool, DesiredNodePoolAutoscaling: gke.Autoscaling(wants)}, "",
		})
	}
	return all
}

// findPool returns a node pool of a cluster, nil if there is none.
func findPool(c *container.Cluster, name string) *container.NodePool {
	if c == nil {
		return nil
	}
	for _, p := range c.NodePools {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func withProfile(have *container.ClusterAutoscaling) *container.ClusterAutoscaling {
	if have == nil {
		return &container.ClusterAutoscaling{AutoscalingProfile: profile}
	}
	changed := *have
	changed.AutoscalingProfile = profile
	return &changed
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
