package gke_test

import (
	"strings"
	"testing"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

func networked(version string) *container.Cluster {
	return &container.Cluster{Name: "main", Location: "us-central1-a", CurrentMasterVersion: version,
		NetworkConfig: &container.NetworkConfig{DatapathProvider: gke.DataplaneV2}}
}

func TestNoNetworks(t *testing.T) {
	for name, tt := range map[string]struct {
		cluster *container.Cluster
		want    string // "" for networks
	}{
		"a new cluster":          {networked(""), ""},
		"the first version":      {networked("1.34.1-gke.1829001"), ""},
		"a later version":        {networked("1.35.1-gke.1396000"), ""},
		"an earlier build":       {networked("1.34.1-gke.999"), "cluster main has version 1.34.1-gke.999, and GKE sets them up from 1.34.1-gke.1829001 on"},
		"an earlier version":     {networked("1.33.9-gke.2000000"), "has version 1.33.9-gke.2000000"},
		"Dataplane V1":           {&container.Cluster{Name: "main", NetworkConfig: &container.NetworkConfig{DatapathProvider: "LEGACY_DATAPATH"}}, "cluster main has no Dataplane V2, which only a new cluster can get"},
		"nothing about networks": {&container.Cluster{Name: "main"}, "no Dataplane V2"},
	} {
		if got := gke.NoNetworks(tt.cluster); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
		if got := gke.NodesOf(tt.cluster).Networks; got != (tt.want == "") {
			t.Errorf("%s: the nodes have networks: %v", name, got)
		}
	}
}

// A pool that was planned for a new cluster is fitted to the one that is there.
func TestSettleLeavesNetworksOut(t *testing.T) {
	const driver = "cloud.google.com/gke-networking-dra-driver"
	options := gke.Options{Nodes: nodes, Labels: map[string]string{"team": "vision"}}
	for name, tt := range map[string]struct {
		accelerator string
		cluster     *container.Cluster
		has         bool
		plain       string
	}{
		"GPUs in a new cluster":       {"b200", networked(""), true, ""},
		"GPUs in an old cluster":      {"b200", &container.Cluster{Name: "main", Location: "us-central1-a"}, false, "talk over plain TCP, because cluster main has no Dataplane V2"},
		"GPUs in two zones":           {"b200", networked(""), false, "it spans several zones, but an accelerator network is in only one"},
		"GPUs without the driver":     {"h100-mega", networked(""), true, ""},
		"a slice in an old cluster":   {"v6e-4x4", &container.Cluster{Name: "main", Location: "us-central1-a"}, false, "talk over plain TCP"},
		"one host in an old cluster":  {"v6e-8", &container.Cluster{Name: "main", Location: "us-central1-a"}, false, ""},
		"a machine that has no other": {"l4", networked(""), false, ""},
	} {
		o := options
		if strings.HasSuffix(name, "in two zones") {
			o.Zones = []string{"us-central1-a", "us-central1-b"}
		}
		p := plan(t, parse(t, tt.accelerator), o)
		if _, err := p.Settle(tt.cluster, nil); err != nil {
			t.Fatal(err)
		}
		labels := p.Pool.Config.Labels
		if gke.HasNetworks(p.Pool) != tt.has || (labels[driver] == "true") != (tt.has && tt.accelerator != "h100-mega") || labels["team"] != "vision" {
			t.Errorf("%s: got %s", name, encode(t, p.Pool))
		}
		if got := gke.PlainNetwork(tt.cluster, p.Pool); (got == "") != (tt.plain == "") || !strings.Contains(got, tt.plain) {
			t.Errorf("%s: got %q, want %q", name, got, tt.plain)
		}
	}
	if _, changed := options.Labels[driver]; changed {
		t.Error("the labels that were asked for were changed")
	}
	made := plan(t, parse(t, "b200"), gke.Options{}).Pool
	if got := gke.PlainNetwork(networked(""), made); !strings.Contains(got, "it was made without an accelerator network profile") {
		t.Errorf("got %q of a pool without the profile", got)
	}
}

// What people have made with gcloud, xpk or the cluster toolkit.
func TestNetworksOfPools(t *testing.T) {
	driver := map[string]string{"cloud.google.com/gke-networking-dra-driver": "true"}
	cards := func(n int) *container.NodeNetworkConfig {
		return &container.NodeNetworkConfig{AdditionalNodeNetworkConfigs: make([]*container.AdditionalNodeNetworkConfig, n)}
	}
	auto := &container.NodeNetworkConfig{AcceleratorNetworkProfile: "auto"}
	for name, tt := range map[string]struct {
		machine string
		labels  map[string]string
		config  *container.NodeNetworkConfig
		plain   string // "" for networks
	}{
		"RDMA":                          {"a4-highgpu-8g", driver, auto, ""},
		"RDMA in networks of their own": {"a4-highgpu-8g", driver, cards(9), ""},
		"RDMA without the driver":       {"a4-highgpu-8g", nil, auto, "made without the label cloud.google.com/gke-networking-dra-driver=true"},
		"RDMA by annotations":           {"a3-ultragpu-8g", nil, cards(9), "made without the label"},
		"no networks":                   {"a3-ultragpu-8g", driver, nil, "made without an accelerator network profile"},
		"TCPXO":                         {"a3-megagpu-8g", nil, auto, ""},
		"TCPXO with eight networks":     {"a3-megagpu-8g", nil, cards(8), ""},
		"TCPXO with too few":            {"a3-megagpu-8g", nil, cards(4), "it has 4 networks for GPUs, and needs 8"},
		"TCPXO with the driver":         {"a3-megagpu-8g", driver, auto, "it has GKE's driver of networks (the label cloud.google.com/gke-networking-dra-driver=true), which keeps its network cards from pods"},
	} {
		p := &container.NodePool{Name: "p", Config: &container.NodeConfig{MachineType: tt.machine, Labels: tt.labels}, NetworkConfig: tt.config}
		if got := gke.PlainNetwork(networked(""), p); (got == "") != (tt.plain == "") || !strings.Contains(got, tt.plain) || gke.HasNetworks(p) != (tt.plain == "") {
			t.Errorf("%s: got %q, want %q", name, got, tt.plain)
		}
	}
}
