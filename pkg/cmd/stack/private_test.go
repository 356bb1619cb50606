package stack_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/api/container/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver/apiservertest"
)

// TestMain has every program trust the test server, as the world trusts the names of GKE's API servers.
func TestMain(m *testing.M) {
	os.Exit(trusting(m))
}

func trusting(m *testing.M) int {
	server := apiservertest.Start()
	defer server.Close()
	authority, err := base64.StdEncoding.DecodeString(server.AuthorityData())
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "up")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "authority.pem")
	if err := os.WriteFile(file, authority, 0o600); err != nil {
		panic(err)
	}
	_ = os.Setenv("SSL_CERT_FILE", file)
	return m.Run()
}

// A cluster whose API server has no address is reached by its name.
func TestUpWithoutAnAddress(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes", "--private").check(t, 0, "; the API server's address can be reached from nowhere", "created     namespace ml", "ready       profile research")
	if c := w.Cluster("acme", zone, "research"); c.Endpoint != "" || c.ControlPlaneEndpointsConfig.DnsEndpointConfig.Endpoint == "" {
		t.Errorf("the endpoints are %q, %+v", c.Endpoint, c.ControlPlaneEndpointsConfig)
	}
	w.up(t).check(t, 0, ": 0 to create")
	w.down(t, "--yes=research").check(t, 0)
}

// The kubeconfig leads to the name before nothing answers at the address any more.
func TestContextOfAnAddressThatIsClosed(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	server := func() string {
		config, err := clientcmd.LoadFromFile(w.kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		return config.Clusters["gke_acme_us-central1-a_research"].Server
	}
	address, name := server(), "https://gke-1.us-central1.gke.goog"
	c := w.Cluster("acme", zone, "research")
	c.ControlPlaneEndpointsConfig = &container.ControlPlaneEndpointsConfig{DnsEndpointConfig: &container.DNSEndpointConfig{Endpoint: strings.TrimPrefix(name, "https://")}}
	w.RemoveCluster("acme", zone, "research")
	w.AddCluster("acme", zone, c)
	w.up(t, "--private").check(t, 0, "~ kubeconfig context gke_acme_us-central1-a_research\n    address: "+address+" now, "+name+" wanted\n")
	if got := server(); got != address {
		t.Errorf("without --reconcile, the kubeconfig leads to %s", got)
	}
	w.up(t, "--private", "--yes", "--reconcile").check(t, 0, "changed     kubeconfig context gke_acme_us-central1-a_research")
	if got := server(); got != name {
		t.Errorf("the kubeconfig leads to %s, want %s", got, name)
	}
}
