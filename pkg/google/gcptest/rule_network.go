package gcptest

import (
	"regexp"

	"google.golang.org/api/container/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"
)

// What an accelerator network profile needs, as GKE's page on automated networking for accelerators says.
func networkProfileMachines() *regexp.Regexp {
	return regexp.MustCompile(`^(a3-(high|mega|ultra)gpu-8g|a4-highgpu-8g|a4x-highgpu-4g|ct6e-standard-[148]t|tpu7x-standard-[14]t)$`)
}

func networkProfileSince() *utilversion.Version {
	return utilversion.MustParseSemantic("1.34.1-gke.1829001")
}

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
	case err != nil || version.LessThan(networkProfileSince()):
		return badRequest("accelerator_network_profile requires version %s or later, the cluster has %s.", networkProfileSince(), c.CurrentMasterVersion)
	case !networkProfileMachines().MatchString(p.Config.MachineType):
		return badRequest("accelerator_network_profile is not supported for machine type %s.", p.Config.MachineType)
	case len(p.Locations) > 1:
		return badRequest("accelerator_network_profile requires a node pool in a single zone, got %d.", len(p.Locations))
	case len(p.NetworkConfig.AdditionalNodeNetworkConfigs) > 0:
		return badRequest("accelerator_network_profile can't be used with additional_node_network_configs.")
	}
	return nil
}
