package google

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// policies are the placement policies that were made for the cluster's node pools.
type policies struct {
	*Project
	id infra.ID
}

// names returns the names of those that no other cluster uses. They are known by their description, also
// after the cluster is gone.
func (p policies) names(ctx context.Context) ([]string, error) {
	ours := gke.PolicyDescription(gkeName(p.Names))
	var names []string
	err := p.services.Compute.ResourcePolicies.List(p.Names.Project, p.Names.Region()).Pages(ctx, func(page *compute.ResourcePolicyList) error {
		for _, each := range page.Items {
			if each.Description == ours {
				names = append(names, each.Name)
			}
		}
		return nil
	})
	if p.absent(ctx, err) {
		return nil, nil
	}
	if err != nil || len(names) == 0 {
		return nil, p.explain(err, "listing the", p.id)
	}
	return p.unused(ctx, names)
}

// unused leaves out the policies that pools of other clusters use: earlier versions gave pools of the same
// shape the same policy.
func (p policies) unused(ctx context.Context, names []string) ([]string, error) {
	clusters, err := gke.AllClusters(ctx, p.access, p.Names.Project)
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(clusters, func(c *container.Cluster) bool { return c.Name == p.Names.Cluster && c.Location == p.Names.Zone })
	return slices.DeleteFunc(names, func(name string) bool { return gke.PolicyIsUsed(others, p.Names.Region(), name) }), nil
}

func (p policies) Get(ctx context.Context) (infra.State, error) {
	names, err := p.names(ctx)
	if gcp.IsStatus(err, http.StatusForbidden) { // someone else may have made some
		return infra.State{Exists: true, Kept: fmt.Sprintf("whether there are any is not known: %v", err)}, nil
	}
	return infra.State{Exists: len(names) > 0, Detail: strings.Join(names, ", ")}, err
}

// Ensure implements infra.Actor. They come with the node pools.
func (p policies) Ensure(context.Context, infra.State) error { return nil }

func (p policies) Delete(ctx context.Context) error {
	names, err := p.names(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		err := p.do(ctx, p.id, p.services.Compute.ResourcePolicies.Delete(p.Names.Project, p.Names.Region(), name).Context(ctx).Do)
		if err != nil && !gcp.IsMissing(err) {
			return p.explain(err, "deleting", p.id)
		}
	}
	return nil
}
