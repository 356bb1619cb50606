package google

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// VPC is a network that exists, which others have made, and in which the cluster is to be. The zero value is a network
// of the cluster's own.
type VPC struct {
	// Network is projects/PROJECT/global/networks/NAME. The project is another one if it shares the network.
	Network string
	// Subnetwork is projects/PROJECT/regions/REGION/subnetworks/NAME, "" for the one of the region in a network with
	// a subnet in each.
	Subnetwork string
	// Pods and Services are the names of secondary ranges of the subnet, "" for ranges that GKE chooses.
	Pods, Services string
}

const (
	vpcName     = `^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`
	networkPath = `^projects/([^/]+)/global/networks/([^/]+)$`
	subnetPath  = `^projects/([^/]+)/regions/([^/]+)/subnetworks/([^/]+)$`
)

// NewVPC returns the network of a cluster from what was typed: names, or full names of what another project shares. Its
// errors begin with the flag.
func NewVPC(n config.Names, network, subnetwork, pods, services string) (VPC, error) {
	if network == "" {
		return VPC{}, nil
	}
	v := VPC{Network: network, Pods: pods, Services: services}
	if lazyregexp.Of(vpcName).MatchString(network) {
		v.Network = "projects/" + n.Project + "/global/networks/" + network
	}
	parts := lazyregexp.Of(networkPath).FindStringSubmatch(v.Network)
	if parts == nil {
		return VPC{}, fmt.Errorf("--network %s: expected the name of a network, or projects/PROJECT/global/networks/NAME for a network that another project shares", network)
	}
	project := parts[1]
	if v.Subnetwork = subnetwork; lazyregexp.Of(vpcName).MatchString(subnetwork) {
		v.Subnetwork = "projects/" + project + "/regions/" + n.Region() + "/subnetworks/" + subnetwork
	}
	parts = lazyregexp.Of(subnetPath).FindStringSubmatch(v.Subnetwork)
	shared := project != n.Project
	switch {
	case subnetwork == "" && shared:
		return VPC{}, fmt.Errorf("--network %s is shared from project %s: name one of the network's subnets in %s with --subnetwork", network, project, n.Region())
	case subnetwork == "" && pods+services != "":
		return VPC{}, fmt.Errorf("--network %s: secondary ranges belong to a subnet: name it with --subnetwork", network)
	case subnetwork == "":
		return v, nil
	case parts == nil:
		return VPC{}, fmt.Errorf("--subnetwork %s: expected the name of a subnet, or projects/PROJECT/regions/REGION/subnetworks/NAME", subnetwork)
	case parts[1] != project:
		return VPC{}, fmt.Errorf("--subnetwork %s: it is in project %s, and its --network in project %s", subnetwork, parts[1], project)
	case parts[2] != n.Region():
		return VPC{}, fmt.Errorf("--subnetwork %s: it is in %s, and the cluster in %s", subnetwork, parts[2], n.Region())
	case shared && pods == "":
		// GKE's page about VPC-native clusters: in a Shared VPC, secondary ranges are the host project's to manage.
		return VPC{}, fmt.Errorf("--subnetwork %s: GKE adds no ranges to a subnet that another project shares: name its secondary range for pods with --cluster-secondary-range-name", subnetwork)
	}
	return v, nil
}

// Chosen reports whether the cluster is to be in a network that exists.
func (v VPC) Chosen() bool { return v.Network != "" }

// String names it for people.
func (v VPC) String() string {
	text := "network " + path.Base(v.Network)
	if parts := lazyregexp.Of(networkPath).FindStringSubmatch(v.Network); parts != nil {
		text += " of project " + parts[1]
	}
	if v.Subnetwork != "" {
		text = "subnet " + path.Base(v.Subnetwork) + " of " + text
	}
	return text
}

// set puts the network into the request for a cluster.
func (v VPC) set(c *container.Cluster) {
	c.Network, c.Subnetwork = v.Network, v.Subnetwork
	c.IpAllocationPolicy.ClusterSecondaryRangeName, c.IpAllocationPolicy.ServicesSecondaryRangeName = v.Pods, v.Services
}

// CheckVPC returns an error if a network or its subnet doesn't exist, or can't be used so. Without the right to read them,
// because another project shares them, hears of that from GKE.
func (p *Project) CheckVPC(ctx context.Context, v VPC) error {
	if !v.Chosen() {
		return nil
	}
	parts := lazyregexp.Of(networkPath).FindStringSubmatch(v.Network)
	network, err := p.services.Compute.Networks.Get(parts[1], parts[2]).Context(ctx).Do()
	switch {
	case gcp.IsMissing(err):
		return fmt.Errorf("--network %s: project %s has no such network: list its networks with: gcloud compute networks list --project=%[2]s", parts[2], parts[1])
	case err != nil:
		return nil //nolint:nilerr // GKE may still use it
	case v.Subnetwork == "" && !network.AutoCreateSubnetworks:
		return fmt.Errorf("--network %s: it has no subnets of its own in each region: name one in %s with --subnetwork", parts[2], p.Names.Region())
	case v.Subnetwork == "":
		return nil
	}
	parts = lazyregexp.Of(subnetPath).FindStringSubmatch(v.Subnetwork)
	subnet, err := p.services.Compute.Subnetworks.Get(parts[1], parts[2], parts[3]).Context(ctx).Do()
	switch {
	case gcp.IsMissing(err):
		return fmt.Errorf("--subnetwork %s: %s of project %s has no such subnet: list its subnets with: gcloud compute networks subnets list --project=%[3]s --regions=%[2]s", parts[3], parts[2], parts[1])
	case err != nil:
		return nil //nolint:nilerr // as above
	case !strings.HasSuffix(subnet.Network, "/"+v.Network):
		return fmt.Errorf("--subnetwork %s: it is in network %s, not in %s", parts[3], path.Base(subnet.Network), path.Base(v.Network))
	}
	var ranges []string
	for _, r := range subnet.SecondaryIpRanges {
		ranges = append(ranges, r.RangeName)
	}
	for _, r := range []struct{ flag, name string }{{"--cluster-secondary-range-name", v.Pods}, {"--services-secondary-range-name", v.Services}} {
		if r.name != "" && !slices.Contains(ranges, r.name) {
			return fmt.Errorf("%s %s: subnet %s has no such secondary range; it has %s", r.flag, r.name, parts[3], cmp.Or(strings.Join(ranges, ", "), "none"))
		}
	}
	return nil
}

// NetworkOf returns the full name of the network of a cluster in a project.
func NetworkOf(c *container.Cluster, project string) string {
	switch {
	case c.NetworkConfig != nil && c.NetworkConfig.Network != "":
		return c.NetworkConfig.Network
	case c.Network == "":
		return ""
	}
	return "projects/" + project + "/global/networks/" + path.Base(c.Network)
}

// differences returns how the network of a cluster differs from the one that was asked for.
func (v VPC) differences(found *container.Cluster, n config.Names) []difference {
	var all []difference
	add := func(setting, have, want string) {
		if have != want && want != "" && have != "" {
			all = append(all, difference{infra.Difference{Setting: setting, Have: have, Want: want, Fixed: true}, nil, ""})
		}
	}
	add("network", NetworkOf(found, n.Project), v.Network)
	if c := found.NetworkConfig; c != nil {
		add("subnet", c.Subnetwork, v.Subnetwork)
	}
	return all
}
