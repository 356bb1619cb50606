package gcptest

import (
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/api/container/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// checkPlacement returns why GKE refuses a slice of several hosts that is not whole, nil if it doesn't.
func checkPlacement(p *container.NodePool) error {
	tpu := perHost(p.Config.MachineType)
	if p.PlacementPolicy == nil || p.PlacementPolicy.TpuTopology == "" {
		return nil
	}
	if tpu == 0 {
		return badRequest("tpu_topology is only supported for TPU machine types.")
	}
	chips := int64(1)
	for part := range strings.SplitSeq(p.PlacementPolicy.TpuTopology, "x") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n < 1 {
			return badRequest("Invalid tpu_topology %q.", p.PlacementPolicy.TpuTopology)
		}
		chips *= n
	}
	hosts := chips / tpu
	isSeven := strings.HasPrefix(p.Config.MachineType, "tpu7x-")
	switch {
	case chips%tpu != 0 || hosts < 2:
		return badRequest("tpu_topology %q can't be used with machine type %s.", p.PlacementPolicy.TpuTopology, p.Config.MachineType)
	case isSeven && (p.PlacementPolicy.PolicyName == "" || p.PlacementPolicy.Type != ""):
		return badRequest("machine type %s needs a workload policy in placement_policy.policy_name.", p.Config.MachineType)
	case !isSeven && p.PlacementPolicy.Type != "COMPACT":
		return badRequest("tpu_topology needs placement_policy.type COMPACT.")
	case p.InitialNodeCount != 0 && p.InitialNodeCount != hosts, p.Autoscaling != nil && p.Autoscaling.Enabled && p.Autoscaling.MaxNodeCount != hosts:
		return badRequest("A node pool with tpu_topology %q has %d nodes, or none.", p.PlacementPolicy.TpuTopology, hosts)
	case len(p.Locations) > 1:
		return badRequest("A node pool with tpu_topology must be in one zone.")
	}
	return nil
}

const chipsOfMachine = `^(?:ct\d[a-z]*-(?:hightpu|standard)|tpu7x-standard)-(\d)t$`

// perHost returns the chips of a TPU machine, 0 for others.
func perHost(machine string) int64 {
	if found := lazyregexp.Of(chipsOfMachine).FindStringSubmatch(machine); found != nil {
		n, _ := strconv.ParseInt(found[1], 10, 64)
		return n
	}
	return 0
}

// checkCapacity returns why GKE refuses where the machines of a pool come from, and their disks; nil if it doesn't.
func checkCapacity(p *container.NodePool) error {
	reserved := p.Config.ReservationAffinity != nil && p.Config.ReservationAffinity.ConsumeReservationType == "SPECIFIC_RESERVATION"
	hyperdisk := regexp.MustCompile(`^(ct6e|tpu7x|a3-ultragpu|a4|a4x|g4)-`).MatchString(p.Config.MachineType)
	switch {
	case p.Config.Spot && reserved:
		return badRequest("Spot VMs can't consume reservations.")
	case p.Config.FlexStart && (p.Config.Spot || reserved):
		return badRequest("flex_start can't be used with Spot VMs or reservations.")
	case p.Config.FlexStart && p.Management != nil && p.Management.AutoRepair:
		return badRequest("flex_start needs node auto-repair to be disabled.")
	case p.QueuedProvisioning != nil && p.QueuedProvisioning.Enabled && (!fromZero(p) || p.Config.Spot || reserved):
		return badRequest("Queued provisioning needs autoscaling from 0 nodes, without Spot VMs and reservations.")
	case p.QueuedProvisioning != nil && p.QueuedProvisioning.Enabled && p.PlacementPolicy != nil && perHost(p.Config.MachineType) == 0:
		return badRequest("placement_policy can't be COMPACT when queued provisioning is enabled.")
	case strings.HasPrefix(p.Config.MachineType, "n1-") && p.PlacementPolicy != nil && p.PlacementPolicy.Type == "COMPACT":
		return badRequest("Compact placement is not supported for machine type %s.", p.Config.MachineType)
	case hyperdisk && p.Config.DiskType != "hyperdisk-balanced":
		return badRequest("[%s] disk type cannot be used by %s machine type.", p.Config.DiskType, p.Config.MachineType)
	case len(p.Config.Accelerators) > 0 && perHost(p.Config.MachineType) > 0:
		return badRequest("accelerators can't be attached to machine type %s.", p.Config.MachineType)
	}
	return nil
}

// fromZero reports whether the autoscaler makes all nodes of a pool.
func fromZero(p *container.NodePool) bool {
	a := p.Autoscaling
	return a != nil && a.MinNodeCount == 0 && a.TotalMinNodeCount == 0 && p.InitialNodeCount == 0
}

// What an accelerator network profile needs, as GKE's page on automated networking for accelerators says.
const (
	networkProfileMachines = `^(a3-(high|mega|ultra)gpu-8g|a4-highgpu-8g|a4x-highgpu-4g|ct6e-standard-[148]t|tpu7x-standard-[14]t)$`
	networkProfileSince    = "1.34.1-gke.1829001"
)

// checkNetworkProfile returns why GKE refuses a profile that the cluster or the machine can't have, nil if it doesn't.
func checkNetworkProfile(c *container.Cluster, p *container.NodePool) error {
	if p.NetworkConfig == nil || p.NetworkConfig.AcceleratorNetworkProfile == "" {
		return nil
	}
	version, err := utilversion.ParseSemantic(c.CurrentMasterVersion)
	switch {
	case p.NetworkConfig.AcceleratorNetworkProfile != "auto":
		return badRequest("Invalid value for accelerator_network_profile: %q. The only valid value is \"auto\".", p.NetworkConfig.AcceleratorNetworkProfile)
	case c.NetworkConfig == nil || c.NetworkConfig.DatapathProvider != dataplaneV2:
		return badRequest("accelerator_network_profile requires a cluster with Dataplane V2.")
	case err != nil || version.LessThan(utilversion.MustParseSemantic(networkProfileSince)):
		return badRequest("accelerator_network_profile requires version %s or later, the cluster has %s.", networkProfileSince, c.CurrentMasterVersion)
	case !lazyregexp.Of(networkProfileMachines).MatchString(p.Config.MachineType):
		return badRequest("accelerator_network_profile is not supported for machine type %s.", p.Config.MachineType)
	case len(p.Locations) > 1:
		return badRequest("accelerator_network_profile requires a node pool in a single zone, got %d.", len(p.Locations))
	case len(p.NetworkConfig.AdditionalNodeNetworkConfigs) > 0:
		return badRequest("accelerator_network_profile can't be used with additional_node_network_configs.")
	}
	return nil
}
