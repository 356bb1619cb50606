package google

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestWanted has the request for a cluster of each kind in a golden file, and sends it.
func TestWanted(t *testing.T) {
	for name, s := range map[string]Settings{
		"standard":   {Machine: "e2-standard-4", MaxNodes: 5},
		"autopilot":  {Autopilot: true},
		"private":    {Machine: "e2-standard-4", MaxNodes: 5, Endpoints: Endpoints{Private: true}},
		"authorized": {Machine: "e2-standard-4", MaxNodes: 5, Endpoints: Endpoints{Authorized: []string{"203.0.113.0/24", "198.51.100.7/32"}}},
		"vpc":        {Machine: "e2-standard-4", MaxNodes: 5, VPC: VPC{Network: "projects/acme/global/networks/team", Subnetwork: "projects/acme/regions/us-central1/subnetworks/jobs"}},
		"shared-vpc": {Autopilot: true, VPC: VPC{Network: "projects/host/global/networks/shared", Subnetwork: "projects/host/regions/us-central1/subnetworks/jobs",
			Pods: "pods", Services: "services"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := gcptest.New(t)
			access, err := gcp.New(t.Context(), server.Env)
			if err != nil {
				t.Fatal(err)
			}
			project, err := New(t.Context(), access, names)
			if err != nil {
				t.Fatal(err)
			}
			server.SetPolls(0)
			cluster := project.Cluster(s)
			text, err := json.MarshalIndent(cluster.wanted(), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "cluster-"+name+".golden", string(text)+"\n")
			if err := cluster.Ensure(t.Context(), infra.State{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// golden compares a text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}
