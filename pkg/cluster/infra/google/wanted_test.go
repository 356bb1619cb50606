package google

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
)

// TestWanted has the request for a cluster of each kind in a golden file, and sends it. Most files have the difference from
// another kind.
func TestWanted(t *testing.T) {
	standard, autopilot := Settings{Machine: "e2-standard-4", MaxNodes: 5}, Settings{Autopilot: true}
	for name, s := range map[string]Settings{
		"standard":   standard,
		"autopilot":  autopilot,
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
			text, base := requestOf(t, cluster), standard
			if s.Autopilot {
				base = autopilot
			}
			if name != "standard" && name != "autopilot" {
				text = golden.Diff(requestOf(t, project.Cluster(base)), text)
			}
			golden.Check(t, "testdata/cluster-"+name+".golden", text)
			if err := cluster.Ensure(t.Context(), infra.State{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func requestOf(t *testing.T, c *Cluster) string {
	t.Helper()
	text, err := json.MarshalIndent(c.wanted(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}
