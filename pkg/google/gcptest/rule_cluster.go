package gcptest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"google.golang.org/api/container/v1"
)

// dataplaneV2 is the data plane that some features need.
const dataplaneV2 = "ADVANCED_DATAPATH"

// checkCluster returns why GKE refuses a new cluster, nil if it doesn't.
func checkCluster(c *container.Cluster) error {
	return cmp.Or(checkDataplane(c), checkMaintenance(c), checkMonitoring(c), checkEndpoints(c))
}

func checkDataplane(c *container.Cluster) error {
	if c.NetworkConfig == nil {
		return nil
	}
	provider := c.NetworkConfig.DatapathProvider
	switch {
	case !slices.Contains([]string{"", "DATAPATH_PROVIDER_UNSPECIFIED", "LEGACY_DATAPATH", dataplaneV2}, provider):
		return badRequest("Invalid value at 'cluster.network_config.datapath_provider' (type.googleapis.com/google.container.v1.DatapathProvider), %q", provider)
	case c.NetworkConfig.EnableMultiNetworking && provider != dataplaneV2:
		return badRequest("Multi-networking requires Dataplane V2 to be enabled.")
	case c.NetworkConfig.EnableMultiNetworking && (c.IpAllocationPolicy == nil || !c.IpAllocationPolicy.UseIpAliases):
		return badRequest("Multi-networking requires a VPC-native cluster.")
	}
	return nil
}

// maxExclusions is how many exclusions a cluster has at most that end all upgrades.
const maxExclusions = 3

func checkMaintenance(c *container.Cluster) error {
	if c.MaintenancePolicy == nil || c.MaintenancePolicy.Window == nil {
		return nil
	}
	channel := c.ReleaseChannel != nil && c.ReleaseChannel.Channel != "" && c.ReleaseChannel.Channel != "UNSPECIFIED"
	all := 0
	for name, w := range c.MaintenancePolicy.Window.MaintenanceExclusions {
		options := w.MaintenanceExclusionOptions
		if options == nil {
			options = &container.MaintenanceExclusionOptions{}
		}
		if options.Scope == "" || options.Scope == "NO_UPGRADES" {
			all++
		}
		_, err := time.Parse(time.RFC3339, w.StartTime)
		switch {
		case err != nil:
			return badRequest("Maintenance exclusion %q: start_time %q is not in RFC 3339 format.", name, w.StartTime)
		case !slices.Contains([]string{"", "NO_UPGRADES", "NO_MINOR_UPGRADES", "NO_MINOR_OR_NODE_UPGRADES"}, options.Scope):
			return badRequest("Maintenance exclusion %q: invalid scope %q.", name, options.Scope)
		case strings.HasPrefix(options.Scope, "NO_MINOR") && !channel:
			return badRequest("Maintenance exclusion %q: scope %s requires a release channel.", name, options.Scope)
		case (w.EndTime == "") != (options.EndTimeBehavior == "UNTIL_END_OF_SUPPORT"):
			return badRequest("Maintenance exclusion %q: exactly one of end_time and end_time_behavior must be set.", name)
		}
	}
	if all > maxExclusions {
		return badRequest("A cluster can have at most %d maintenance exclusions with scope NO_UPGRADES.", maxExclusions)
	}
	return nil
}

func checkMonitoring(c *container.Cluster) error {
	if c.MonitoringConfig == nil || c.MonitoringConfig.ComponentConfig == nil {
		return nil
	}
	components := c.MonitoringConfig.ComponentConfig.EnableComponents
	// monitored are the components whose metrics GKE collects.
	monitored := []string{"SYSTEM_COMPONENTS", "APISERVER", "SCHEDULER", "CONTROLLER_MANAGER", "STORAGE", "HPA", "POD", "DAEMONSET", "DEPLOYMENT",
		"STATEFULSET", "CADVISOR", "KUBELET", "DCGM", "JOBSET"}
	for _, each := range components {
		if !slices.Contains(monitored, each) {
			return badRequest("Invalid value at 'cluster.monitoring_config.component_config.enable_components' (type.googleapis.com/google.container.v1.MonitoringComponentConfig.Component), %q", each)
		}
	}
	if len(components) > 0 && !slices.Contains(components, "SYSTEM_COMPONENTS") {
		return badRequest("SYSTEM_COMPONENTS must be enabled if any other component is.")
	}
	return nil
}

func checkEndpoints(c *container.Cluster) error {
	e := c.ControlPlaneEndpointsConfig
	if e == nil || e.IpEndpointsConfig == nil {
		return nil
	}
	networks := e.IpEndpointsConfig.AuthorizedNetworksConfig
	switch dns := e.DnsEndpointConfig; {
	case networks != nil && c.MasterAuthorizedNetworksConfig != nil:
		return badRequest("Only one of master_authorized_networks_config and control_plane_endpoints_config.ip_endpoints_config.authorized_networks_config can be set.")
	case !e.IpEndpointsConfig.Enabled && (dns == nil || !dns.AllowExternalTraffic):
		return badRequest("At least one of the DNS endpoint and the IP endpoints must be enabled.")
	case !e.IpEndpointsConfig.Enabled && networks != nil && networks.Enabled:
		return badRequest("Authorized networks can't be enabled if the IP endpoints are disabled.")
	case networks != nil && len(networks.CidrBlocks) > 50:
		return badRequest("At most 50 authorized networks can be set.")
	}
	return nil
}
