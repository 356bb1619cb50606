package gcptest

import (
	"strings"
	"testing"

	"google.golang.org/api/container/v1"
)

func TestCluster(t *testing.T) {
	window := func(channel, scope, end, behavior string) *container.Cluster {
		return &container.Cluster{ReleaseChannel: &container.ReleaseChannel{Channel: channel},
			MaintenancePolicy: &container.MaintenancePolicy{Window: &container.MaintenanceWindow{MaintenanceExclusions: map[string]container.TimeWindow{
				"jobs": {StartTime: "2026-01-01T00:00:00Z", EndTime: end,
					MaintenanceExclusionOptions: &container.MaintenanceExclusionOptions{Scope: scope, EndTimeBehavior: behavior}}}}}}
	}
	network := func(provider string, aliases bool) *container.Cluster {
		return &container.Cluster{NetworkConfig: &container.NetworkConfig{DatapathProvider: provider, EnableMultiNetworking: true},
			IpAllocationPolicy: &container.IPAllocationPolicy{UseIpAliases: aliases}}
	}
	metrics := func(components ...string) *container.Cluster {
		return &container.Cluster{MonitoringConfig: &container.MonitoringConfig{ComponentConfig: &container.MonitoringComponentConfig{EnableComponents: components}}}
	}
	endpoints := func(name bool, ip *container.IPEndpointsConfig) *container.Cluster {
		return &container.Cluster{ControlPlaneEndpointsConfig: &container.ControlPlaneEndpointsConfig{
			DnsEndpointConfig: &container.DNSEndpointConfig{AllowExternalTraffic: name}, IpEndpointsConfig: ip}}
	}
	authorized := &container.MasterAuthorizedNetworksConfig{Enabled: true, CidrBlocks: []*container.CidrBlock{{CidrBlock: "203.0.113.0/24"}}}
	twice := endpoints(true, &container.IPEndpointsConfig{Enabled: true, AuthorizedNetworksConfig: authorized})
	twice.MasterAuthorizedNetworksConfig = authorized
	for name, tt := range map[string]struct {
		cluster *container.Cluster
		want    string // "" for none
	}{
		"no address":                      {endpoints(true, &container.IPEndpointsConfig{}), ""},
		"neither name nor address":        {endpoints(false, &container.IPEndpointsConfig{}), "At least one of"},
		"authorized networks":             {endpoints(true, &container.IPEndpointsConfig{Enabled: true, AuthorizedNetworksConfig: authorized}), ""},
		"for no address":                  {endpoints(true, &container.IPEndpointsConfig{AuthorizedNetworksConfig: authorized}), "can't be enabled"},
		"networks twice":                  {twice, "Only one of"},
		"nothing":                         {&container.Cluster{}, ""},
		"multi-networking":                {network("ADVANCED_DATAPATH", true), ""},
		"without Dataplane V2":            {network("", true), "requires Dataplane V2"},
		"with routes":                     {network("ADVANCED_DATAPATH", false), "VPC-native"},
		"an unknown data plane":           {network("V3", true), `"V3"`},
		"no upgrades of nodes":            {window("REGULAR", "NO_MINOR_OR_NODE_UPGRADES", "", "UNTIL_END_OF_SUPPORT"), ""},
		"no upgrades for a while":         {window("", "NO_UPGRADES", "2026-01-20T00:00:00Z", ""), ""},
		"a scope without a channel":       {window("UNSPECIFIED", "NO_MINOR_OR_NODE_UPGRADES", "", "UNTIL_END_OF_SUPPORT"), "requires a release channel"},
		"two ends":                        {window("REGULAR", "NO_MINOR_UPGRADES", "2026-02-01T00:00:00Z", "UNTIL_END_OF_SUPPORT"), "exactly one of"},
		"no end":                          {window("REGULAR", "NO_MINOR_UPGRADES", "", ""), "exactly one of"},
		"an unknown scope":                {window("REGULAR", "NONE", "", "UNTIL_END_OF_SUPPORT"), `invalid scope "NONE"`},
		"metrics":                         {metrics("SYSTEM_COMPONENTS", "DCGM"), ""},
		"metrics without those of system": {metrics("DCGM"), "SYSTEM_COMPONENTS must be enabled"},
		"unknown metrics":                 {metrics("SYSTEM_COMPONENTS", "TPU"), `"TPU"`},
	} {
		err := checkCluster(tt.cluster)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

func TestNetworkProfile(t *testing.T) {
	cluster := func(version, provider string) *container.Cluster {
		return &container.Cluster{CurrentMasterVersion: version, NetworkConfig: &container.NetworkConfig{DatapathProvider: provider}}
	}
	pool := func(machine, profile string) *container.NodePool {
		return &container.NodePool{Config: &container.NodeConfig{MachineType: machine}, NetworkConfig: &container.NodeNetworkConfig{AcceleratorNetworkProfile: profile}}
	}
	const version, provider = "1.35.1-gke.1396000", "ADVANCED_DATAPATH"
	for name, tt := range map[string]struct {
		cluster *container.Cluster
		pool    *container.NodePool
		want    string // "" for none
	}{
		"a profile":           {cluster(version, provider), pool("a4-highgpu-8g", "auto"), ""},
		"none":                {cluster(version, ""), pool("a4-highgpu-8g", ""), ""},
		"another profile":     {cluster(version, provider), pool("a4-highgpu-8g", "fast"), "only valid value"},
		"without Dataplane 2": {cluster(version, "LEGACY_DATAPATH"), pool("a4-highgpu-8g", "auto"), "requires a cluster with Dataplane V2"},
		"too old":             {cluster("1.34.0-gke.1829001", provider), pool("a4-highgpu-8g", "auto"), "requires version 1.34.1-gke.1829001"},
		"two zones": {cluster(version, provider), &container.NodePool{Config: &container.NodeConfig{MachineType: "a4-highgpu-8g"}, Locations: []string{"us-central1-a", "us-central1-b"},
			NetworkConfig: &container.NodeNetworkConfig{AcceleratorNetworkProfile: "auto"}}, "requires a node pool in a single zone"},
		"another machine": {cluster(version, provider), pool("g2-standard-4", "auto"), "not supported for machine type g2-standard-4"},
	} {
		err := checkNetworkProfile(tt.cluster, tt.pool)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

func TestCapacity(t *testing.T) {
	queued := func(change func(p *container.NodePool)) *container.NodePool {
		p := &container.NodePool{Config: &container.NodeConfig{MachineType: "g2-standard-4", FlexStart: true},
			QueuedProvisioning: &container.QueuedProvisioning{Enabled: true}, Autoscaling: &container.NodePoolAutoscaling{Enabled: true, TotalMaxNodeCount: 4}}
		change(p)
		return p
	}
	for want, p := range map[string]*container.NodePool{
		"": queued(func(*container.NodePool) {}),
		"Queued provisioning needs autoscaling from 0 nodes, without Spot VMs and reservations.": queued(func(p *container.NodePool) { p.InitialNodeCount = 1 }),
		"Compact placement is not supported for machine type n1-standard-4.":                     {Config: &container.NodeConfig{MachineType: "n1-standard-4"}, PlacementPolicy: &container.PlacementPolicy{Type: "COMPACT"}},
		"placement_policy can't be COMPACT when queued provisioning is enabled.":                 queued(func(p *container.NodePool) { p.PlacementPolicy = &container.PlacementPolicy{Type: "COMPACT"} }),
		"[pd-balanced] disk type cannot be used by ct6e-standard-8t machine type.":               {Config: &container.NodeConfig{MachineType: "ct6e-standard-8t", DiskType: "pd-balanced"}},
	} {
		got := ""
		if err := checkCapacity(p); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if checkCapacity(queued(func(p *container.NodePool) { p.Autoscaling.TotalMinNodeCount = 1 })) == nil {
		t.Error("nodes of a queue stay on")
	}
}
