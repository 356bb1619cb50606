package gke

import (
	"fmt"
	"maps"

	"google.golang.org/api/container/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// DataplaneV2 is GKE's name for the data plane on which the networks of accelerators depend. A cluster gets
// it when it is created, or never.
const DataplaneV2 = "ADVANCED_DATAPATH"

const (
	// networkProfile has GKE make the networks of the nodes' machines. It is the only profile.
	networkProfile = "auto"
	// networkDriver is the label of nodes on which GKE runs the driver that gives these networks to pods.
	networkDriver = "cloud.google.com/gke-networking-dra-driver"
	// networksSince is the first version of GKE that has the driver.
	networksSince = "1.34.1-gke.1829001"
)

// NoNetworks returns why accelerators of a cluster get no networks of their own, "" if they do. A cluster
// without a version doesn't exist yet, and gets a new one.
func NoNetworks(c *container.Cluster) string {
	if c.NetworkConfig == nil || c.NetworkConfig.DatapathProvider != DataplaneV2 {
		return fmt.Sprintf("cluster %s has no Dataplane V2, which only a new cluster can get", c.Name)
	}
	version, err := utilversion.ParseSemantic(c.CurrentMasterVersion)
	if err == nil && version.LessThan(utilversion.MustParseSemantic(networksSince)) {
		return fmt.Sprintf("cluster %s has version %s, and GKE sets them up from %s on", c.Name, c.CurrentMasterVersion, networksSince)
	}
	return ""
}

// driven reports whether GKE's driver gives a kind of network to pods. Pods get the others by an annotation that
// names Network objects, and the driver would take the network cards away from these: GKE's page on managed DRANET
// (docs/how-to/allocate-network-resources-dra) lists the machines, and forbids both for the same cards.
func driven(n api.Network) bool { return n == api.NetworkRDMA || n == accelerator.NICs }

// withNetworks asks for the networks that the pool's machines can have.
func withNetworks(p *container.NodePool) {
	kind := accelerator.NetworkOf(p.Config.MachineType)
	if kind == accelerator.NoNetwork {
		return
	}
	p.NetworkConfig = &container.NodeNetworkConfig{AcceleratorNetworkProfile: networkProfile}
	if !driven(kind) {
		return
	}
	labels := map[string]string{networkDriver: "true"}
	maps.Copy(labels, p.Config.Labels)
	p.Config.Labels = labels
}

// Fit leaves out the networks that a cluster can't have, or that the zones of the pool can't: each network is in one.
// Zones that are not known yet may be several. Once they are, Fit can be asked again.
func (p Planned) Fit(c *container.Cluster) {
	zones := len(p.Pool.Locations)
	if zones == 0 && p.oneZone(c) == "" {
		zones = zoneCount(c)
	}
	switch {
	case NoNetworks(c) != "" || zones > 1:
		p.Pool.NetworkConfig = nil
		delete(p.Pool.Config.Labels, networkDriver)
	case p.options.Nodes.Networks:
		withNetworks(p.Pool)
	}
}

// gpuCards is how many network cards a3-megagpu-8g has for its GPUs, one for each. Each is on a network of its own.
const gpuCards = 8

// HasNetworks reports whether the machines of a pool have the networks of their accelerators, and pods can get them.
func HasNetworks(p *container.NodePool) bool { return lacksNetworks(p) == "" }

// lacksNetworks returns why pods on a pool get no networks of their accelerators, "" if they do. The pool is the
// subject of the text.
func lacksNetworks(p *container.NodePool) string {
	profile, cards := "", 0
	if n := p.NetworkConfig; n != nil {
		profile, cards = n.AcceleratorNetworkProfile, len(n.AdditionalNodeNetworkConfigs)
	}
	label, machine := false, ""
	if p.Config != nil {
		label, machine = p.Config.Labels[networkDriver] == "true", p.Config.MachineType
	}
	switch kind := accelerator.NetworkOf(machine); {
	case kind == accelerator.NoNetwork:
		return "has machines without them"
	case profile == "" && cards == 0 && len(p.Locations) > 1:
		return "spans several zones, but an accelerator network is in only one"
	case profile == "" && cards == 0:
		return "was made without an accelerator network profile, which can't be added"
	case driven(kind) && !label:
		return "was made without the label " + networkDriver + "=true"
	case !driven(kind) && label:
		return "has GKE's driver of networks (the label " + networkDriver + "=true), which keeps its network cards from pods"
	case kind == api.NetworkTCPXO && profile == "" && cards < gpuCards:
		return fmt.Sprintf("has %d networks for GPUs, and needs %d", cards, gpuCards)
	}
	return ""
}

// PlainNetwork says that the hosts of a pool talk over the network of their machines alone although these can have
// networks for their accelerators, and why; "" if they have them, or can't have any. Hosts that are slices of TPUs by
// themselves rarely talk to others: of them it says nothing.
func PlainNetwork(c *container.Cluster, p *container.NodePool) string {
	if p.Config == nil || HasNetworks(p) {
		return ""
	}
	switch accelerator.NetworkOf(p.Config.MachineType) {
	case accelerator.NoNetwork:
		return ""
	case accelerator.NICs:
		if p.PlacementPolicy == nil || p.PlacementPolicy.TpuTopology == "" {
			return ""
		}
	}
	why := NoNetworks(c)
	if why == "" {
		why = "it " + lacksNetworks(p)
	}
	return fmt.Sprintf("the hosts of node pool %s talk over plain TCP, because %s", p.Name, why)
}
