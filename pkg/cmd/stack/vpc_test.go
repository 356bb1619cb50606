package stack_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/compute/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// A cluster in a network of others gets none of its own, and `down` leaves the others' network.
func TestUpInANetworkThatExists(t *testing.T) {
	w := newWorld(t)
	w.SetProject("acme", func(p *gcptest.Project) { p.APIs["compute.googleapis.com"] = true })
	w.AddNetwork("acme", &compute.Network{Name: "team"})
	w.AddSubnet("acme", "us-central1", "team", &compute.Subnetwork{Name: "jobs"})
	w.AddFirewall("acme", "team", "gke-other-1f3c-all")
	flags := []string{"--network", "team", "--subnetwork", "jobs"}
	planned := w.up(t, append(flags, "--dry-run")...)
	planned.check(t, 0, "+ cluster research: in us-central1-a,", "; in subnet jobs of network team of project acme",
		"warning: nodes have no external addresses: the subnet jobs of network team of project acme needs a Cloud NAT")
	if strings.Contains(planned.out, "NAT") || strings.Contains(planned.out, "kn-research-router") {
		t.Errorf("the plan has a NAT:\n%s", planned.out)
	}
	w.up(t, append(flags, "--yes")...).check(t, 0, "ready")
	for range 2 { // Missing the flags, and with them
		if r := w.up(t, append(flags, "--yes")...); strings.Contains(r.err, "\n+ ") || strings.Contains(r.err, "\n~ ") || strings.Contains(r.err, "NAT") {
			t.Errorf("again:\n%s", r.err)
		}
		flags = nil
	}
	w.up(t, "--network", "default", "--yes").check(t, 0, "network: projects/acme/global/networks/team now, projects/acme/global/networks/default wanted; it can't be changed while it exists")
	c := w.Cluster("acme", zone, "research")
	if c.NetworkConfig.Network != "projects/acme/global/networks/team" || c.NetworkConfig.Subnetwork != "projects/acme/regions/us-central1/subnetworks/jobs" {
		t.Errorf("the cluster is in %+v", c.NetworkConfig)
	}
	w.down(t, "--yes=research").check(t, 0, "deleted     cluster research")
	if w.Network("acme", "team") == nil || slices.ContainsFunc(w.Changes(), func(change string) bool {
		return strings.Contains(change, "/networks/") || strings.Contains(change, "/routers") || strings.Contains(change, "/firewalls/")
	}) {
		t.Errorf("a network was changed: %v", w.Changes())
	}
}

// A network that doesn't exist is refused before anything is made.
func TestUpRefusesANetworkThatDoesNotExist(t *testing.T) {
	w := newWorld(t)
	w.SetProject("acme", func(p *gcptest.Project) { p.APIs["compute.googleapis.com"] = true })
	before := len(w.Changes())
	w.up(t, "--yes", "--network", "team").check(t, 2, "--network team: project acme has no such network")
	w.unchanged(t, before)
}
