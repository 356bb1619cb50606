package gcptest

import (
	"cmp"
	"encoding/base64"
	"net/http"

	"google.golang.org/api/container/v1"
)

// SetEndpoint has the API server of all later clusters at an address, with the certificate of its
// authority in base64. Without it, nothing answers at their address.
func (s *Server) SetEndpoint(address, authority string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.container.endpoint, s.container.authority = address, authority
}

// SetVersion sets the version of all later clusters, that of the API server which is behind them.
func (s *Server) SetVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.container.version = version
}

// Accepts reports whether a request to such an API server has a token of the account.
func (s *Server) Accepts(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens.accepts(r.Header.Get("Authorization"))
}

// address returns the address of clusters, and the certificate as GKE shows it.
func (s *containerState) address() (endpoint, certificate string) {
	if s.endpoint != "" {
		return s.endpoint, s.authority
	}
	return "203.0.113.10", base64.StdEncoding.EncodeToString([]byte("certificate"))
}

// setEndpoints leaves a cluster without access by its address the name alone. It stands for the same server here, unless
// the cluster already has a name.
func setEndpoints(c *container.Cluster) {
	e := c.ControlPlaneEndpointsConfig
	if e == nil || e.DnsEndpointConfig == nil || e.IpEndpointsConfig == nil || e.IpEndpointsConfig.Enabled || c.Endpoint == "" {
		return
	}
	e.DnsEndpointConfig.Endpoint, c.Endpoint = cmp.Or(e.DnsEndpointConfig.Endpoint, c.Endpoint), ""
}
