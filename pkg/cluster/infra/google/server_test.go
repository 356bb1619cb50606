package google

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
)

func TestServers(t *testing.T) {
	dns := func(outside bool) *container.ControlPlaneEndpointsConfig {
		return &container.ControlPlaneEndpointsConfig{
			DnsEndpointConfig: &container.DNSEndpointConfig{AllowExternalTraffic: outside, Endpoint: "gke-1.us-central1.gke.goog"},
			IpEndpointsConfig: &container.IPEndpointsConfig{Enabled: true, PublicEndpoint: "203.0.113.11", PrivateEndpoint: "10.0.0.2"}}
	}
	off := dns(true)
	off.IpEndpointsConfig.Enabled = false
	auth := &container.MasterAuth{ClusterCaCertificate: "Y2E="}
	ca := []byte("ca")
	for name, tt := range map[string]struct {
		cluster *container.Cluster
		want    []infra.Server
		private bool
	}{
		"by name": {&container.Cluster{Endpoint: "203.0.113.10", MasterAuth: auth, ControlPlaneEndpointsConfig: dns(true)},
			[]infra.Server{{URL: "https://gke-1.us-central1.gke.goog"}, {URL: "https://203.0.113.10", Authority: ca}, {URL: "https://203.0.113.11", Authority: ca}, {URL: "https://10.0.0.2", Authority: ca}}, false},
		"by name only inside": {&container.Cluster{Endpoint: "203.0.113.10", MasterAuth: auth, ControlPlaneEndpointsConfig: dns(false)},
			[]infra.Server{{URL: "https://203.0.113.10", Authority: ca}, {URL: "https://203.0.113.11", Authority: ca}, {URL: "https://10.0.0.2", Authority: ca}, {URL: "https://gke-1.us-central1.gke.goog"}}, false},
		"by address": {&container.Cluster{Endpoint: "203.0.113.10", MasterAuth: auth},
			[]infra.Server{{URL: "https://203.0.113.10", Authority: ca}}, false},
		"private": {&container.Cluster{Endpoint: "203.0.113.10", MasterAuth: auth, PrivateClusterConfig: &container.PrivateClusterConfig{PrivateEndpoint: "10.0.0.2"}},
			[]infra.Server{{URL: "https://203.0.113.10", Authority: ca}, {URL: "https://10.0.0.2", Authority: ca}}, false},
		"by address, which is to be closed": {&container.Cluster{Endpoint: "203.0.113.10", MasterAuth: auth, ControlPlaneEndpointsConfig: &container.ControlPlaneEndpointsConfig{DnsEndpointConfig: dns(false).DnsEndpointConfig}},
			[]infra.Server{{URL: "https://203.0.113.10", Authority: ca, Closing: true}, {URL: "https://gke-1.us-central1.gke.goog"}}, true},
		"by name, the address is closed": {&container.Cluster{MasterAuth: auth, ControlPlaneEndpointsConfig: off},
			[]infra.Server{{URL: "https://gke-1.us-central1.gke.goog"}, {URL: "https://203.0.113.11", Authority: ca, Closing: true}, {URL: "https://10.0.0.2", Authority: ca, Closing: true}}, false},
	} {
		got, err := Servers(tt.cluster, tt.private)
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	const want = "cluster c has no address, its status is PROVISIONING: repeat this command once it runs"
	if got, err := Servers(&container.Cluster{Name: "c", Status: "PROVISIONING"}, false); err == nil || err.Error() != want {
		t.Errorf("got %v, %v; want %s", got, err, want)
	}
	if _, err := Servers(&container.Cluster{Name: "c", Endpoint: "203.0.113.10", MasterAuth: &container.MasterAuth{ClusterCaCertificate: "?"}}, false); err == nil {
		t.Error("a certificate that can't be read is no error")
	}
}
