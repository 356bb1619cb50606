package google

import (
	"strings"
	"testing"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

func TestNewVPC(t *testing.T) {
	const team, subnet = "projects/acme/global/networks/team", "projects/acme/regions/us-central1/subnetworks/jobs"
	const shared, sharedSubnet = "projects/host/global/networks/team", "projects/host/regions/us-central1/subnetworks/jobs"
	for name, tt := range map[string]struct {
		network, subnet, pods, services string
		want                            VPC
		err                             string
	}{
		"one of its own":            {},
		"a name":                    {network: "team", want: VPC{Network: team}},
		"its full name":             {network: team, want: VPC{Network: team}},
		"with a subnet":             {network: "team", subnet: "jobs", want: VPC{Network: team, Subnetwork: subnet}},
		"a shared one":              {network: shared, subnet: "jobs", pods: "p", services: "s", want: VPC{Network: shared, Subnetwork: sharedSubnet, Pods: "p", Services: "s"}},
		"full names":                {network: shared, subnet: sharedSubnet, pods: "p", want: VPC{Network: shared, Subnetwork: sharedSubnet, Pods: "p"}},
		"no name":                   {network: "Team", err: "--network Team: expected the name of a network, or projects/PROJECT/global/networks/NAME"},
		"a subnet of a wrong form":  {network: "team", subnet: "regions/x", err: "--subnetwork regions/x: expected the name of a subnet"},
		"a shared one, no subnet":   {network: shared, err: "--network " + shared + " is shared from project host: name one of the network's subnets in us-central1 with --subnetwork"},
		"a shared one, no range":    {network: shared, subnet: "jobs", err: "name its secondary range for pods with --cluster-secondary-range-name"},
		"ranges of no subnet":       {network: "team", pods: "p", err: "--network team: secondary ranges belong to a subnet: name it with --subnetwork"},
		"a subnet of a project":     {network: "team", subnet: sharedSubnet, err: "it is in project host, and its --network in project acme"},
		"a subnet elsewhere":        {network: "team", subnet: "projects/acme/regions/us-east5/subnetworks/jobs", err: "it is in us-east5, and the cluster in us-central1"},
		"services of no known pods": {network: "team", subnet: "jobs", services: "s", want: VPC{Network: team, Subnetwork: subnet, Services: "s"}},
	} {
		got, err := NewVPC(names, tt.network, tt.subnet, tt.pods, tt.services)
		switch {
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%s: got %v, want %s", name, err, tt.err)
		case tt.err == "" && (err != nil || got != tt.want):
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, tt.want)
		}
	}
}

func TestCheckVPC(t *testing.T) {
	w := newWorld(t)
	w.SetProject("acme", func(p *gcptest.Project) { p.APIs["compute.googleapis.com"] = true })
	w.AddProject("host")
	w.AddNetwork("host", &compute.Network{Name: "shared"})
	w.AddSubnet("host", "us-central1", "shared", &compute.Subnetwork{Name: "jobs", SecondaryIpRanges: []*compute.SubnetworkSecondaryRange{{RangeName: "pods"}, {RangeName: "services"}}})
	w.AddNetwork("acme", &compute.Network{Name: "default", AutoCreateSubnetworks: true})
	w.AddNetwork("acme", &compute.Network{Name: "team"})
	w.AddSubnet("acme", "us-central1", "team", &compute.Subnetwork{Name: "jobs", SecondaryIpRanges: []*compute.SubnetworkSecondaryRange{{RangeName: "pods"}}})
	w.AddSubnet("acme", "us-central1", "default", &compute.Subnetwork{Name: "other"})
	check := func(network, subnet, pods, services string) string {
		t.Helper()
		v, err := NewVPC(names, network, subnet, pods, services)
		if err == nil {
			err = w.project.CheckVPC(t.Context(), v)
		}
		if err == nil {
			return ""
		}
		return err.Error()
	}
	for name, tt := range map[string]struct{ got, want string }{
		"one of its own":       {check("", "", "", ""), ""},
		"subnets everywhere":   {check("default", "", "", ""), ""},
		"a subnet":             {check("team", "jobs", "", ""), ""},
		"a range":              {check("team", "jobs", "pods", ""), ""},
		"a shared one":         {check("projects/host/global/networks/shared", "jobs", "pods", "services"), ""},
		"no range that it has": {check("projects/host/global/networks/shared", "jobs", "pods", "service"), "--services-secondary-range-name service: subnet jobs has no such secondary range; it has pods, services"},
		"no network":           {check("taem", "", "", ""), "--network taem: project acme has no such network: list its networks with: gcloud compute networks list --project=acme"},
		"no subnets":           {check("team", "", "", ""), "--network team: it has no subnets of its own in each region: name one in us-central1 with --subnetwork"},
		"no subnet":            {check("team", "job", "", ""), "--subnetwork job: us-central1 of project acme has no such subnet: list its subnets with: gcloud compute networks subnets list --project=acme --regions=us-central1"},
		"one of another":       {check("team", "other", "", ""), "--subnetwork other: it is in network default, not in team"},
		"no range":             {check("team", "jobs", "pod", ""), "--cluster-secondary-range-name pod: subnet jobs has no such secondary range; it has pods"},
		"no range of services": {check("default", "other", "", "s"), "--services-secondary-range-name s: subnet other has no such secondary range; it has none"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", name, tt.got, tt.want)
		}
	}
	w.Deny("compute.networks.get")
	if got := check("projects/host/global/networks/none", "jobs", "pods", ""); got != "" {
		t.Errorf("without the right to read it: got %q", got)
	}
}

func TestNetworkOfAClusterDiffers(t *testing.T) {
	v := VPC{Network: "projects/host/global/networks/shared", Subnetwork: "projects/host/regions/us-central1/subnetworks/jobs"}
	same := &container.Cluster{Network: "shared", NetworkConfig: &container.NetworkConfig{Network: v.Network, Subnetwork: v.Subnetwork}}
	if got := v.differences(same, names); len(got) > 0 {
		t.Errorf("the same: got %+v", got)
	}
	own := &container.Cluster{Network: "shared", NetworkConfig: &container.NetworkConfig{Network: "projects/acme/global/networks/shared", Subnetwork: v.Subnetwork}}
	if got := v.differences(own, names); len(got) != 1 || got[0].Setting != "network" || !got[0].Fixed {
		t.Errorf("a network of the same name: got %+v", got)
	}
	if got := (VPC{}).differences(own, names); len(got) > 0 {
		t.Errorf("nothing was asked for: got %+v", got)
	}
}
