package gcptest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, path, want string // the values, "no" if it doesn't match
	}{
		{"v1/projects/{project}", "v1/projects/acme", "project=acme"},
		{"v1/projects/{project}", "v1/projects/acme/x", "no"},
		{"v1/projects/{project}", "v1/projects", "no"},
		{"v1/projects/{project}", "v1/projects/acme:getIamPolicy", "no"},
		{"v1/projects/{project}:getIamPolicy", "v1/projects/acme:getIamPolicy", "project=acme"},
		{"v1/projects/{project}/services:batchEnable", "v1/projects/acme/services:batchEnable", "project=acme"},
		{"v1/projects/{project}/services", "v1/projects/acme/services:batchEnable", "no"},
		{"b/{bucket}/o/{object...}", "b/jobs/o/a/b:c", "bucket=jobs object=a/b:c"},
		{"b/{bucket}/o/{object...}", "b/jobs/o", "no"},
	} {
		got := "no"
		if values, ok := match(tt.pattern, tt.path); ok {
			var parts []string
			for name, value := range values {
				parts = append(parts, name+"="+value)
			}
			slices.Sort(parts)
			got = strings.Join(parts, " ")
		}
		if got != tt.want {
			t.Errorf("%s of %s: got %q, want %q", tt.path, tt.pattern, got, tt.want)
		}
	}
}

func newClients(t *testing.T) (*Server, *container.Service, *compute.Service) {
	t.Helper()
	s := New(t)
	access, err := gcp.New(t.Context(), s.Env)
	if err != nil {
		t.Fatal(err)
	}
	clusters, err := container.NewService(t.Context(), access.Options(gcp.Container)...)
	if err != nil {
		t.Fatal(err)
	}
	machines, err := compute.NewService(t.Context(), access.Options(gcp.Compute)...)
	if err != nil {
		t.Fatal(err)
	}
	return s, clusters, machines
}

// Lists have pages, which a client has to follow.
func TestPages(t *testing.T) {
	s, _, machines := newClients(t)
	s.SetPolls(0)
	for i := range 5 {
		if _, err := machines.ResourcePolicies.Insert("acme", "us-central1", &compute.ResourcePolicy{Name: fmt.Sprint("p", i)}).Do(); err != nil {
			t.Fatal(err)
		}
	}
	for size, want := range map[int]int{2: 3, 100: 1} {
		s.SetPageSize(size)
		pages, items := 0, 0
		err := machines.ResourcePolicies.List("acme", "us-central1").Pages(t.Context(), func(l *compute.ResourcePolicyList) error {
			pages, items = pages+1, items+len(l.Items)
			return nil
		})
		if err != nil || pages != want || items != 5 {
			t.Errorf("with %d on a page: %d pages with %d items, %v", size, pages, items, err)
		}
	}
}

// The depth of a request is that of the longest chain of requests up to it.
func TestDepth(t *testing.T) {
	s := New(t)
	begin := func() *Call {
		call, _ := s.begin(&http.Request{Method: http.MethodGet, URL: &url.URL{}}, "container", "v1")
		return call
	}
	first := begin()
	s.end(first, http.StatusOK)
	second, third := begin(), begin() // at the same time
	s.end(third, http.StatusOK)
	fourth := begin()
	s.end(second, http.StatusOK)
	s.end(fourth, http.StatusOK)
	var depths []int
	for _, c := range s.Calls() {
		depths = append(depths, c.Depth)
	}
	if !slices.Equal(depths, []int{1, 2, 2, 3}) {
		t.Errorf("the depths are %v", depths)
	}
}

// Faults come in order, and let requests pass before.
func TestFaults(t *testing.T) {
	s, clusters, _ := newClients(t)
	s.Fail(Fault{Path: "clusters$", After: 1, Times: 2, Status: http.StatusBadRequest, Message: "no"})
	var got []string
	for range 4 {
		_, err := clusters.Projects.Locations.Clusters.List("projects/acme/locations/-").Do()
		got = append(got, fmt.Sprint(err == nil))
	}
	if want := "true false false true"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Await(t.Context(), "^GET container/v1/projects/acme/locations/-/clusters$"); err != nil {
		t.Error(err)
	}
	if err := s.Await(ctx, "^POST"); err == nil {
		t.Error("there was no POST")
	}
}

// What real services refuse is refused here, too.
func TestRefusals(t *testing.T) {
	s, clusters, _ := newClients(t)
	s.AddCluster("acme", "us-central1-a", &container.Cluster{Name: "main"})
	for want, p := range map[string]*container.NodePool{
		"Invalid value for field":         {Name: "Upper", Config: &container.NodeConfig{MachineType: "e2-medium"}},
		"can't be used with machine type": {Name: "p", Config: &container.NodeConfig{MachineType: "ct5lp-hightpu-4t"}, PlacementPolicy: &container.PlacementPolicy{Type: "COMPACT", TpuTopology: "2x2"}},
		"needs placement_policy.type":     {Name: "p", Config: &container.NodeConfig{MachineType: "ct5lp-hightpu-4t"}, PlacementPolicy: &container.PlacementPolicy{TpuTopology: "4x4"}},
		"has 4 nodes, or none":            {Name: "p", InitialNodeCount: 3, Config: &container.NodeConfig{MachineType: "ct5lp-hightpu-4t"}, PlacementPolicy: &container.PlacementPolicy{Type: "COMPACT", TpuTopology: "4x4"}},
		"needs a workload policy":         {Name: "p", Config: &container.NodeConfig{MachineType: "tpu7x-standard-4t", DiskType: "hyperdisk-balanced"}, PlacementPolicy: &container.PlacementPolicy{Type: "COMPACT", TpuTopology: "2x2x2"}},
		"disk type cannot be used":        {Name: "p", Config: &container.NodeConfig{MachineType: "ct6e-standard-1t"}},
		"can't be greater than":           {Name: "p", Config: &container.NodeConfig{MachineType: "e2-medium"}, Autoscaling: &container.NodePoolAutoscaling{Enabled: true, MinNodeCount: 3, MaxNodeCount: 2}},
		"Spot VMs can't consume":          {Name: "p", Config: &container.NodeConfig{MachineType: "e2-medium", Spot: true, ReservationAffinity: &container.ReservationAffinity{ConsumeReservationType: "SPECIFIC_RESERVATION"}}},
	} {
		_, err := clusters.Projects.Locations.Clusters.NodePools.Create("projects/acme/locations/us-central1-a/clusters/main", &container.CreateNodePoolRequest{NodePool: p}).Do()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if len(s.Cluster("acme", "us-central1-a", "main").NodePools) != 0 {
		t.Error("a node pool was made")
	}
}

// A resource policy can't be deleted while a node pool of the region names it.
func TestPoliciesInUse(t *testing.T) {
	s, _, machines := newClients(t)
	s.AddPolicy("acme", "us-central1", &compute.ResourcePolicy{Name: "iron"})
	pools := []*container.NodePool{{Name: "p", PlacementPolicy: &container.PlacementPolicy{PolicyName: "iron"}}}
	s.AddCluster("acme", "us-east5-a", &container.Cluster{Name: "elsewhere", NodePools: pools})
	s.AddCluster("acme", "us-central1-a", &container.Cluster{Name: "main", NodePools: pools})
	if _, err := machines.ResourcePolicies.Delete("acme", "us-central1", "iron").Do(); err == nil || !strings.Contains(err.Error(), "is already being used by 'projects/acme/locations/us-central1-a/clusters/main/nodePools/p'") {
		t.Errorf("got %v", err)
	}
	s.RemoveCluster("acme", "us-central1-a", "main")
	if _, err := machines.ResourcePolicies.Delete("acme", "us-central1", "iron").Do(); err != nil {
		t.Error(err)
	}
}

// An update merges what it calls desiredSomething into the cluster.
func TestUpdate(t *testing.T) {
	s, clusters, _ := newClients(t)
	s.SetPolls(0)
	s.AddCluster("acme", "us-central1-a", &container.Cluster{Name: "main",
		AddonsConfig: &container.AddonsConfig{HttpLoadBalancing: &container.HttpLoadBalancing{Disabled: true}}})
	_, err := clusters.Projects.Locations.Clusters.Update("projects/acme/locations/us-central1-a/clusters/main", &container.UpdateClusterRequest{Update: &container.ClusterUpdate{
		DesiredAddonsConfig:       &container.AddonsConfig{GcsFuseCsiDriverConfig: &container.GcsFuseCsiDriverConfig{Enabled: true}},
		DesiredClusterAutoscaling: &container.ClusterAutoscaling{AutoscalingProfile: "OPTIMIZE_UTILIZATION"},
	}}).Do()
	if err != nil {
		t.Fatal(err)
	}
	c := s.Cluster("acme", "us-central1-a", "main")
	if !c.AddonsConfig.GcsFuseCsiDriverConfig.Enabled || !c.AddonsConfig.HttpLoadBalancing.Disabled || c.Autoscaling.AutoscalingProfile != "OPTIMIZE_UTILIZATION" {
		t.Errorf("the cluster is %+v, %+v", c.AddonsConfig, c.Autoscaling)
	}
}

// Nodes serve pods their own identity if their pool was made after Workload Identity.
func TestMetadataOfPools(t *testing.T) {
	s, clusters, _ := newClients(t)
	s.SetPolls(0)
	s.AddCluster("acme", "us-central1-a", &container.Cluster{Name: "main", NodePools: []*container.NodePool{{Name: "before"}}})
	const parent = "projects/acme/locations/us-central1-a/clusters/main"
	if _, err := clusters.Projects.Locations.Clusters.Update(parent, &container.UpdateClusterRequest{Update: &container.ClusterUpdate{
		DesiredWorkloadIdentityConfig: &container.WorkloadIdentityConfig{WorkloadPool: "acme.svc.id.goog"}}}).Do(); err != nil {
		t.Fatal(err)
	}
	if _, err := clusters.Projects.Locations.Clusters.NodePools.Create(parent, &container.CreateNodePoolRequest{
		NodePool: &container.NodePool{Name: "after", Config: &container.NodeConfig{MachineType: "e2-medium"}}}).Do(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"before": "GCE_METADATA", "after": "GKE_METADATA"} {
		p, err := clusters.Projects.Locations.Clusters.NodePools.Get(parent + "/nodePools/" + name).Do()
		if err != nil || p.Config.WorkloadMetadataConfig.Mode != want {
			t.Errorf("%s: got %+v, %v", name, p, err)
		}
	}
}
