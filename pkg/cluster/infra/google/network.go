package google

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/googleapi"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
)

// do starts an operation of Compute Engine, again while what it needs is still being created, and
// waits for it.
func (p *Project) do(ctx context.Context, id infra.ID, start func(...googleapi.CallOption) (*compute.Operation, error)) error {
	return backoff.Retry(ctx, settlesWithin, notReady, func() error {
		started, err := start()
		if err != nil {
			return err
		}
		return p.wait(ctx, id, gcp.ComputeOperation(p.services.Compute, p.Names.Project, started))
	})
}

// notReady reports whether something that is needed is still being created, by another run.
func notReady(err error) bool {
	return gcp.IsStatus(err, http.StatusBadRequest) && strings.Contains(gcp.MessageIn(err), "is not ready")
}

// network is the network of the cluster, with a subnet in each region.
type network struct {
	*Project
	id infra.ID
}

func (n network) Get(ctx context.Context) (infra.State, error) {
	found, err := n.services.Compute.Networks.Get(n.Names.Project, n.id.Name).Context(ctx).Do()
	s, err := n.described(ctx, n.id, err, func() string { return found.Description })
	if s.Exists && !found.AutoCreateSubnetworks {
		s.Differences = []infra.Difference{{Setting: "subnets", Have: "custom", Want: "one in each region", Fixed: true}}
	}
	return s, err
}

func (n network) Ensure(ctx context.Context, _ infra.State) error {
	err := n.do(ctx, n.id, n.services.Compute.Networks.Insert(n.Names.Project, &compute.Network{
		Name: n.id.Name, AutoCreateSubnetworks: true, Description: "Network of cluster " + n.Names.Cluster + ", " + mark,
		RoutingConfig: &compute.NetworkRoutingConfig{RoutingMode: "REGIONAL"},
	}).Context(ctx).Do)
	if gcp.IsExists(err) {
		return nil
	}
	return n.explain(err, "creating", n.id)
}

// Delete implements infra.Actor. It deletes the firewall rules first that GKE leaves there.
func (n network) Delete(ctx context.Context) error {
	err := n.unused(ctx)
	if err == nil {
		err = n.deleteRules(ctx)
	}
	if err == nil {
		err = n.do(ctx, n.id, n.services.Compute.Networks.Delete(n.Names.Project, n.id.Name).Context(ctx).Do)
	}
	return n.deleted(ctx, n.id, err, n)
}

// unused returns an error if a cluster is in the network: it needs the firewall rules.
func (n network) unused(ctx context.Context) error {
	others, _, err := n.Others(ctx)
	if err != nil {
		return err
	}
	for _, c := range others {
		if path.Base(c.Network) == n.id.Name {
			return fmt.Errorf("cluster %s in %s is in it", c.Name, c.Location)
		}
	}
	return nil
}

func (n network) deleteRules(ctx context.Context) error {
	var left []string
	err := n.services.Compute.Firewalls.List(n.Names.Project).Pages(ctx, func(page *compute.FirewallList) error {
		for _, rule := range page.Items {
			ours := strings.HasSuffix(rule.Network, "/"+n.id.Name)
			if ours && (strings.HasPrefix(rule.Name, "gke-") || strings.HasPrefix(rule.Name, "k8s-")) {
				left = append(left, rule.Name)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range left {
		err := n.do(ctx, n.id, n.services.Compute.Firewalls.Delete(n.Names.Project, name).Context(ctx).Do)
		if err != nil && !gcp.IsMissing(err) {
			return err
		}
	}
	return nil
}

// router is the router of the network, which has the NAT.
type router struct {
	*Project
	id infra.ID
}

func (r router) Get(ctx context.Context) (infra.State, error) {
	found, err := r.services.Compute.Routers.Get(r.Names.Project, r.Names.Region(), r.id.Name).Context(ctx).Do()
	return r.described(ctx, r.id, err, func() string { return found.Description })
}

func (r router) Ensure(ctx context.Context, _ infra.State) error {
	err := r.do(ctx, r.id, r.services.Compute.Routers.Insert(r.Names.Project, r.Names.Region(), &compute.Router{
		Name: r.id.Name, Description: "Router of cluster " + r.Names.Cluster + ", " + mark,
		Network: "projects/" + r.Names.Project + "/global/networks/" + r.Names.Network(),
	}).Context(ctx).Do)
	if gcp.IsExists(err) {
		return nil
	}
	return r.explain(err, "creating", r.id)
}

func (r router) Delete(ctx context.Context) error {
	err := r.do(ctx, r.id, r.services.Compute.Routers.Delete(r.Names.Project, r.Names.Region(), r.id.Name).Context(ctx).Do)
	return r.deleted(ctx, r.id, err, r)
}

// nat lets nodes without addresses of their own reach the internet.
type nat struct {
	*Project
	id infra.ID
}

func (n nat) find(ctx context.Context) (router *compute.Router, exists bool, err error) {
	router, err = n.services.Compute.Routers.Get(n.Names.Project, n.Names.Region(), n.Names.Router()).Context(ctx).Do()
	exists = err == nil && slices.ContainsFunc(router.Nats, func(each *compute.RouterNat) bool { return each.Name == n.id.Name })
	return router, exists, err
}

func (n nat) Get(ctx context.Context) (infra.State, error) {
	_, exists, err := n.find(ctx)
	if gcp.IsMissing(err) {
		return infra.State{}, nil
	}
	return infra.State{Exists: exists}, n.explain(err, "reading", n.id)
}

func (n nat) Ensure(ctx context.Context, _ infra.State) error {
	router, exists, err := n.find(ctx)
	if err != nil || exists {
		return n.explain(err, "reading", n.id)
	}
	nats := append(router.Nats, &compute.RouterNat{
		Name: n.id.Name, NatIpAllocateOption: "AUTO_ONLY", SourceSubnetworkIpRangesToNat: "ALL_SUBNETWORKS_ALL_IP_RANGES",
	})
	patch := n.services.Compute.Routers.Patch(n.Names.Project, n.Names.Region(), n.Names.Router(), &compute.Router{Nats: nats})
	return n.explain(n.do(ctx, n.id, patch.Context(ctx).Do), "creating", n.id)
}

// Delete implements infra.Actor. It goes with the router.
func (n nat) Delete(context.Context) error { return nil }
