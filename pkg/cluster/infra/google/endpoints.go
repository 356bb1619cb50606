package google

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
)

// Endpoints is from where the API server of a cluster can be reached by its address. By its name it can be reached
// from everywhere, and IAM decides.
type Endpoints struct {
	// Private means that it has no address.
	Private bool
	// Authorized are the networks that may use the address, as "203.0.113.0/24"; everybody may if there are none.
	Authorized []string
}

// maxAuthorized is how many networks GKE takes.
const maxAuthorized = 50

// CheckNetworks returns what is wrong with networks that are to be authorized.
func CheckNetworks(networks []string) error {
	if len(networks) > maxAuthorized {
		return fmt.Errorf("GKE takes at most %d networks, and there are %d", maxAuthorized, len(networks))
	}
	for _, text := range networks {
		prefix, err := netip.ParsePrefix(text)
		switch {
		case err != nil || !prefix.Addr().Is4():
			return fmt.Errorf("%q: expected a network such as 203.0.113.0/24, or one address such as 203.0.113.7/32", text)
		case prefix != prefix.Masked():
			return fmt.Errorf("%q is not a network address: use %s", text, prefix.Masked())
		}
	}
	return nil
}

func (e Endpoints) chosen() bool { return e.Private || len(e.Authorized) > 0 }

// config returns the setting, nil for GKE's own.
func (e Endpoints) config() *container.IPEndpointsConfig {
	switch {
	case e.Private:
		return &container.IPEndpointsConfig{ForceSendFields: []string{"Enabled"}}
	case len(e.Authorized) == 0:
		return nil
	}
	networks := &container.MasterAuthorizedNetworksConfig{Enabled: true}
	for _, each := range e.Authorized {
		networks.CidrBlocks = append(networks.CidrBlocks, &container.CidrBlock{CidrBlock: each})
	}
	return &container.IPEndpointsConfig{Enabled: true, EnablePublicEndpoint: true, AuthorizedNetworksConfig: networks}
}

// String says from where the address can be reached.
func (e Endpoints) String() string {
	switch {
	case e.Private:
		return "from nowhere"
	case len(e.Authorized) > 0:
		return "from " + strings.Join(e.Authorized, ", ")
	}
	return "from everywhere"
}

// option returns that of gcloud for the same setting.
func (e Endpoints) option() string {
	if e.Private {
		return "--no-enable-ip-access"
	}
	return "--enable-master-authorized-networks --master-authorized-networks=" + strings.Join(e.Authorized, ",")
}

// endpointsOf returns the setting of a cluster.
func endpointsOf(c *container.Cluster) Endpoints {
	networks := c.MasterAuthorizedNetworksConfig
	if e := c.ControlPlaneEndpointsConfig; e != nil && e.IpEndpointsConfig != nil {
		if !e.IpEndpointsConfig.Enabled {
			return Endpoints{Private: true}
		}
		networks = e.IpEndpointsConfig.AuthorizedNetworksConfig
	}
	var found Endpoints
	if networks != nil && networks.Enabled {
		for _, each := range networks.CidrBlocks {
			found.Authorized = append(found.Authorized, each.CidrBlock)
		}
	}
	return found
}

// ofEndpoints returns how a cluster differs in what the user has chosen about the endpoints. The name is first: once the
// address is off, nobody could reach the API server without it.
func (s Settings) ofEndpoints(found *container.Cluster) []difference {
	var all []difference
	have, want, option := endpointsOf(found), s.Endpoints, s.Endpoints.option()
	if want.Private && !outside(found) {
		name := container.DNSEndpointConfig{AllowExternalTraffic: true}
		if e := found.ControlPlaneEndpointsConfig; e != nil && e.DnsEndpointConfig != nil {
			name.EnableK8sCertsViaDns, name.EnableK8sTokensViaDns = e.DnsEndpointConfig.EnableK8sCertsViaDns, e.DnsEndpointConfig.EnableK8sTokensViaDns
		}
		const byName = "--enable-dns-access"
		option = byName + " " + option
		all = append(all, difference{infra.Difference{Setting: "access to the API server by its name", Have: onOff(false), Want: onOff(true)}, &container.ClusterUpdate{
			DesiredControlPlaneEndpointsConfig: &container.ControlPlaneEndpointsConfig{DnsEndpointConfig: &name}}, byName})
	}
	sorted := func(all []string) []string { return slices.Sorted(slices.Values(all)) }
	if !want.chosen() || have.Private == want.Private && slices.Equal(sorted(have.Authorized), sorted(want.Authorized)) {
		return all
	}
	return append(all, difference{infra.Difference{Setting: "access to the API server's address", Have: have.String(), Want: want.String()}, &container.ClusterUpdate{
		DesiredControlPlaneEndpointsConfig: &container.ControlPlaneEndpointsConfig{IpEndpointsConfig: want.config()}}, option})
}

// outside reports whether the API server of a cluster can be reached by its name from everywhere.
func outside(found *container.Cluster) bool {
	e := found.ControlPlaneEndpointsConfig
	return e != nil && e.DnsEndpointConfig != nil && e.DnsEndpointConfig.AllowExternalTraffic
}
