package google

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
)

// What is chosen about the API server's address is shown for a cluster that exists, and changed if that is wanted.
func TestEndpointsAreChanged(t *testing.T) {
	office, home := []string{"203.0.113.0/24"}, []string{"198.51.100.7/32", "203.0.113.0/24"}
	w := newWorld(t)
	if err := w.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		chosen Endpoints
		want   string // the difference, "" for none
	}{
		{Endpoints{}, ""},
		{Endpoints{Authorized: office}, "access to the API server's address: from everywhere now, from 203.0.113.0/24 wanted"},
		{Endpoints{}, ""},
		{Endpoints{Authorized: home}, "from 203.0.113.0/24 now, from 198.51.100.7/32, 203.0.113.0/24 wanted"},
		{Endpoints{Authorized: []string{home[1], home[0]}}, ""},
		{Endpoints{Private: true}, "from 198.51.100.7/32, 203.0.113.0/24 now, from nowhere wanted"},
		{Endpoints{Private: true}, ""},
	} {
		next := w.again(t)
		next.cluster.settings.Endpoints = step.chosen
		plan := infra.MakePlan(next.items, next.read(t), false)
		var told []string
		for _, s := range plan {
			for _, d := range s.Differences {
				told = append(told, d.String())
			}
		}
		if got := strings.Join(told, "; "); (got == "") != (step.want == "") || !strings.Contains(got, step.want) {
			t.Errorf("%+v: got %q, want %q", step.chosen, got, step.want)
		}
		if err := next.up(t.Context(), true, quiet); err != nil {
			t.Fatal(err)
		}
	}
	c := w.Cluster("acme", zone, "research")
	if servers, err := Servers(c, false); err != nil || len(servers) != 1 || !HasServer(c) || c.Endpoint != "" {
		t.Errorf("without an address it is reached at %v, %v", servers, err)
	}
}

// Without its address, a cluster of keras-kinetic could be reached by nobody: access by its name is switched on before.
func TestPrivateNeedsTheName(t *testing.T) {
	w := newWorld(t)
	if err := w.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	c := w.Cluster("acme", zone, "research")
	c.ControlPlaneEndpointsConfig = &container.ControlPlaneEndpointsConfig{DnsEndpointConfig: &container.DNSEndpointConfig{Endpoint: "gke-1.gke.goog", EnableK8sTokensViaDns: true}}
	var commands []string
	for _, d := range (Settings{Endpoints: Endpoints{Private: true}}).ofEndpoints(c) {
		commands = append(commands, d.option)
	}
	if diff := cmp.Diff([]string{"--enable-dns-access", "--enable-dns-access --no-enable-ip-access"}, commands); diff != "" {
		t.Errorf("options of gcloud (-want +got):\n%s", diff)
	}
	w.RemoveCluster("acme", zone, "research")
	w.AddCluster("acme", zone, c)
	next := w.again(t)
	next.cluster.settings.Endpoints = Endpoints{Private: true}
	if err := next.up(t.Context(), true, quiet); err != nil {
		t.Fatal(err)
	}
	c = w.Cluster("acme", zone, "research")
	if e := c.ControlPlaneEndpointsConfig; !e.DnsEndpointConfig.AllowExternalTraffic || !e.DnsEndpointConfig.EnableK8sTokensViaDns || e.IpEndpointsConfig.Enabled {
		t.Errorf("the endpoints are %+v, %+v", e.DnsEndpointConfig, e.IpEndpointsConfig)
	}
}

func TestCheckNetworks(t *testing.T) {
	var many []string
	for i := range maxAuthorized + 1 {
		many = append(many, fmt.Sprintf("203.0.113.%d/32", i))
	}
	for want, networks := range map[string][]string{
		"": {"203.0.113.0/24", "0.0.0.0/0"}, `"2001:db8::/32": expected`: {"2001:db8::/32"}, "at most 50 networks, and there are 51": many,
		"is not a network address: use 203.0.113.0/24": {"203.0.113.9/24"}, `"203.0.113.9": expected`: {"203.0.113.9"},
	} {
		if err := CheckNetworks(networks); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", networks, err, want)
		}
	}
}
