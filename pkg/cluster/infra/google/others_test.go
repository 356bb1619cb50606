package google

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

func TestOthers(t *testing.T) {
	nodes := []*container.NodePool{{Name: "default-pool", Config: &container.NodeConfig{ServiceAccount: nodesEmail}}}
	added := &container.ClusterAutoscaling{AutoprovisioningNodePoolDefaults: &container.AutoprovisioningNodePoolDefaults{ServiceAccount: nodesEmail}}
	for name, tt := range map[string]struct {
		location string
		cluster  container.Cluster
		want     int
	}{
		"the cluster itself":    {zone, container.Cluster{Name: "research", Network: "kn-research"}, 0},
		"one without a share":   {zone, container.Cluster{Name: "other", Network: "kn-other"}, 0},
		"the name, in a region": {"us-central1", container.Cluster{Name: "research"}, 1},
		"the name, in a zone":   {"us-east1-b", container.Cluster{Name: "research"}, 1},
		"the network":           {zone, container.Cluster{Name: "other", Network: "kn-research"}, 1},
		"the nodes' account":    {zone, container.Cluster{Name: "other", NodePools: nodes}, 1},
		"that of later nodes":   {zone, container.Cluster{Name: "other", Autoscaling: added}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.SetProject("acme", func(p *gcptest.Project) { p.APIs["container.googleapis.com"] = true })
			w.AddCluster("acme", tt.location, &tt.cluster)
			others, _, err := w.project.Others(t.Context())
			if err != nil || len(others) != tt.want {
				t.Errorf("got %v, %v", others, err)
			}
		})
	}
}

func TestOthersWithoutTheAPI(t *testing.T) {
	if others, _, err := newWorld(t).project.Others(t.Context()); err != nil || len(others) > 0 {
		t.Errorf("got %v, %v", others, err)
	}
}

func TestOthersInAZoneThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t)
	w.Fail(gcptest.Fault{Method: http.MethodGet, Path: "locations/-/clusters$", Status: http.StatusOK, Body: `{"missingZones": ["us-east1-b"]}`})
	if _, _, err := w.project.Others(t.Context()); err == nil || !strings.Contains(err.Error(), "us-east1-b did not answer, and a cluster there may use what belongs to another: try again later") {
		t.Errorf("got %v", err)
	}
}

// The firewall rules of a network stay while a cluster is in it, also one that nobody saw before.
func TestNetworkOfAClusterStays(t *testing.T) {
	w := newWorld(t)
	if err := w.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	w.AddFirewall("acme", "kn-research", "gke-research-1f3c-all")
	w.AddCluster("acme", "us-east1-b", &container.Cluster{Name: "other", Network: "kn-research"})
	err := network{w.project, infra.ID{Kind: infra.KindNetwork, Name: "kn-research"}}.Delete(t.Context())
	if err == nil || !strings.Contains(err.Error(), "cluster other in us-east1-b is in it") {
		t.Errorf("got %v", err)
	}
	for _, call := range w.Calls() {
		if call.Method == http.MethodDelete {
			t.Errorf("deleted: %s", call)
		}
	}
}
