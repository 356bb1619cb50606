package gke_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

func TestNetworkPool(t *testing.T) {
	with := gke.Nodes{Networks: true}
	spot := func(s *api.Spec) { s.Capacity.Kind = api.CapacitySpot }
	reserved := func(s *api.Spec) { s.Capacity = api.Capacity{Kind: api.CapacityReservation, Name: "block-7"} }
	none := func(*api.Spec) {}
	pool := func(name, accelerator string, o gke.Options) *container.NodePool {
		o.Name = name
		return plan(t, parse(t, accelerator), o).Pool
	}
	shared := pool("mig", "b200", gke.Options{Nodes: with})
	shared.Config.Accelerators[0].GpuPartitionSize = "1g.23gb"
	old := networked("1.34.0-gke.1")
	for name, tt := range map[string]struct {
		cluster     *container.Cluster
		pools       []*container.NodePool
		accelerator string
		change      func(*api.Spec)
		want, why   string
	}{
		"RDMA":                   {networked(""), []*container.NodePool{pool("l", "l4", gke.Options{Nodes: with}), pool("b", "b200", gke.Options{Nodes: with})}, "b200", none, "b", ""},
		"TCPXO":                  {networked(""), []*container.NodePool{pool("m", "h100-mega", gke.Options{Nodes: with})}, "h100-mega", none, "m", ""},
		"the second has it":      {networked(""), []*container.NodePool{pool("a", "b200", gke.Options{}), pool("b", "b200", gke.Options{Nodes: with})}, "b200", none, "b", ""},
		"no pool":                {networked(""), nil, "b200", none, "", "cluster main has no node pool with b200x8 yet"},
		"other machines":         {networked(""), []*container.NodePool{pool("h", "h200", gke.Options{Nodes: with})}, "b200", none, "", "no node pool with b200x8 yet"},
		"parts of GPUs":          {networked(""), []*container.NodePool{shared}, "b200", none, "", "no node pool with b200x8 yet"},
		"spot, but on demand":    {networked(""), []*container.NodePool{pool("b", "b200", gke.Options{Nodes: with})}, "b200", spot, "", "no node pool with b200x8 yet"},
		"on demand takes spot":   {networked(""), []*container.NodePool{pool("b", "b200:spot", gke.Options{Nodes: with})}, "b200", none, "b", ""},
		"the reservation":        {networked(""), []*container.NodePool{pool("b", "b200", gke.Options{Nodes: with, Reservation: "block-7"})}, "b200", reserved, "b", ""},
		"another reservation":    {networked(""), []*container.NodePool{pool("b", "b200", gke.Options{Nodes: with, Reservation: "block-8"})}, "b200", reserved, "", "no node pool"},
		"a pool without profile": {networked(""), []*container.NodePool{pool("b", "b200", gke.Options{})}, "b200", none, "", "node pool b was made without an accelerator network profile, which can't be added"},
		"Dataplane V1":           {&container.Cluster{Name: "main"}, []*container.NodePool{pool("b", "b200", gke.Options{})}, "b200", none, "", "cluster main has no Dataplane V2, which only a new cluster can get"},
		"an early version":       {old, []*container.NodePool{pool("b", "b200", gke.Options{Nodes: with})}, "b200", none, "", "cluster main has version 1.34.0-gke.1"},
		"Autopilot":              {&container.Cluster{Name: "main", Autopilot: &container.Autopilot{Enabled: true}}, nil, "b200", none, "", "Autopilot makes the nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.cluster.NodePools = tt.pools
			s := api.Spec{Placement: api.Placement{Accelerator: parse(t, tt.accelerator)}}
			tt.change(&s)
			got, why := gke.NetworkPool(tt.cluster, s)
			if (got != nil) != (tt.want != "") || got != nil && got.Name != tt.want || (why == "") != (tt.why == "") || !strings.Contains(why, tt.why) {
				t.Errorf("got %v, %q, want %q, %q", got, why, tt.want, tt.why)
			}
		})
	}
}

func TestPodNetworks(t *testing.T) {
	named := func(format string, n int) map[string]string {
		all := map[string]string{}
		for i := range n {
			all[fmt.Sprintf("sub-%d", i)] = fmt.Sprintf(format, i)
		}
		return all
	}
	cards := func(subnetworks ...string) *container.NodePool {
		p := &container.NodePool{Name: "m", NetworkConfig: &container.NodeNetworkConfig{}}
		for _, s := range subnetworks {
			p.NetworkConfig.AdditionalNodeNetworkConfigs = append(p.NetworkConfig.AdditionalNodeNetworkConfigs,
				&container.AdditionalNodeNetworkConfig{Subnetwork: "projects/acme/regions/us-central1/subnetworks/" + s})
		}
		return p
	}
	backwards := cards("sub-7", "sub-6", "sub-5", "sub-4", "sub-3", "sub-2", "sub-1", "sub-0")
	for name, tt := range map[string]struct {
		pool     *container.NodePool
		networks map[string]string
		want     []string
		why      string
	}{
		"in the order of the cards": {backwards, named("net%d", 9), []string{"net7", "net6", "net5", "net4", "net3", "net2", "net1", "net0"}, ""},
		"those that GKE made":       {cards(), named("gpu-net-%d", 8), []string{"gpu-net-0", "gpu-net-1", "gpu-net-2", "gpu-net-3", "gpu-net-4", "gpu-net-5", "gpu-net-6", "gpu-net-7"}, ""},
		"numbers of two digits":     {&container.NodePool{Name: "m"}, map[string]string{"1": "n9", "2": "n10", "3": "n8", "4": "n7", "5": "n11", "6": "n12", "7": "n6", "8": "n13"}, []string{"n6", "n7", "n8", "n9", "n10", "n11", "n12", "n13"}, ""},
		"of two pools":              {cards(), named("net%d", 16), nil, "the cluster has 16 Network objects for the network cards of node pool m, not 8"},
		"none":                      {cards(), nil, nil, "has 0 Network objects"},
		"one is missing":            {backwards, named("net%d", 7), nil, "no Network object for subnetwork sub-7 of node pool m"},
	} {
		got, why := gke.PodNetworks(tt.pool, tt.networks)
		if !slices.Equal(got, tt.want) || (why == "") != (tt.why == "") || !strings.Contains(why, tt.why) {
			t.Errorf("%s: got %q, %q, want %q, %q", name, got, why, tt.want, tt.why)
		}
	}
}
