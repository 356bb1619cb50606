package google

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
)

// Servers returns the addresses of a cluster's API server, first the one to use. Every machine
// trusts the one with a name, which is the only one that stays if access by address is off, or private wants it off.
// A cluster that is being created may have none yet, which is an error.
func Servers(found *container.Cluster, private bool) ([]infra.Server, error) {
	var name string
	addresses := []string{found.Endpoint}
	if e := found.ControlPlaneEndpointsConfig; e != nil {
		if dns := e.DnsEndpointConfig; dns != nil {
			name = dns.Endpoint
		}
		if ip := e.IpEndpointsConfig; ip != nil {
			addresses = append(addresses, ip.PublicEndpoint, ip.PrivateEndpoint)
		}
	}
	if private := found.PrivateClusterConfig; private != nil {
		addresses = append(addresses, private.PublicEndpoint, private.PrivateEndpoint)
	}
	if !HasServer(found) {
		return nil, fmt.Errorf("cluster %s has no address, its status is %s: repeat this command once it runs", found.Name, found.Status)
	}
	authority, err := authority(found)
	if err != nil {
		return nil, err
	}
	private = private || endpointsOf(found).Private
	var all []infra.Server
	for _, address := range addresses {
		if address != "" {
			all = append(all, infra.Server{URL: "https://" + address, Authority: authority, Closing: private})
		}
	}
	if name == "" {
		return all, nil
	}
	named := infra.Server{URL: "https://" + strings.TrimPrefix(name, "https://")}
	if outside(found) {
		return slices.Insert(all, 0, named), nil
	}
	return append(all, named), nil
}

// Servers returns the addresses of the API server of the cluster that was read, for what is wanted.
func (c *Cluster) Servers(found *container.Cluster) ([]infra.Server, error) {
	return Servers(found, c.settings.Endpoints.Private)
}

// HasServer reports whether the API server of a cluster has a name or an address. One without access by its address has
// a name alone.
func HasServer(found *container.Cluster) bool {
	e := found.ControlPlaneEndpointsConfig
	return found.Endpoint != "" || e != nil && e.DnsEndpointConfig != nil && e.DnsEndpointConfig.Endpoint != ""
}

func authority(found *container.Cluster) ([]byte, error) {
	if found.MasterAuth == nil {
		return nil, nil
	}
	certificate, err := base64.StdEncoding.DecodeString(found.MasterAuth.ClusterCaCertificate)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of cluster %s: %w", found.Name, err)
	}
	return certificate, nil
}
