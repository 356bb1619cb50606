package gke

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// PolicyDescription returns the description of the resource policies of a cluster's pools. GKE leaves
// them behind when it deletes the cluster.
func PolicyDescription(c Cluster) string {
	return fmt.Sprintf("For a node pool of cluster %s in %s, made by kubectl kinetic", c.Name, c.Location)
}

// policyName returns the name of a pool's resource policy. All clusters of a region share these names, and
// pools of the same shape have the same name.
func policyName(c Cluster, pool string) string {
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(c.Path())))
	return pool + "-" + hash[:8]
}

// PolicyIsUsed reports whether a node pool of one of the clusters names a resource policy of a region.
func PolicyIsUsed(clusters []*container.Cluster, region, policy string) bool {
	for _, c := range clusters {
		for _, p := range c.NodePools {
			if p.PlacementPolicy != nil && p.PlacementPolicy.PolicyName == policy && config.Region(c.Location) == region {
				return true
			}
		}
	}
	return false
}

// ensurePolicy makes the resource policy that a pool needs. A pool that exists has one already.
func (c *Client) ensurePolicy(ctx context.Context, p Planned) error {
	if p.Policy == nil {
		return nil
	}
	doing := fmt.Sprintf("creating resource policy %s for node pool %s", p.Policy.Name, p.Pool.Name)
	_, err := c.container.Projects.Locations.Clusters.NodePools.Get(c.cluster.pool(p.Pool.Name)).Context(ctx).Do()
	if !gcp.IsMissing(err) {
		return c.explain(err, doing)
	}
	o, err := c.compute.ResourcePolicies.Insert(c.cluster.Project, c.region(), p.Policy).Context(ctx).Do()
	if gcp.IsExists(err) {
		return c.checkPolicy(ctx, p.Policy, doing)
	}
	if err == nil {
		err = c.access.Wait(ctx, gcp.ComputeOperation(c.compute, c.cluster.Project, o), c.tell)
	}
	if err != nil {
		return c.refused(err, p.Pool, doing)
	}
	return nil
}

// checkPolicy refuses a resource policy that has the wanted name but is another one.
func (c *Client) checkPolicy(ctx context.Context, wanted *compute.ResourcePolicy, doing string) error {
	found, err := c.compute.ResourcePolicies.Get(c.cluster.Project, c.region(), wanted.Name).Context(ctx).Do()
	if err != nil {
		return c.explain(err, doing)
	}
	other := ""
	switch {
	case found.Description != wanted.Description:
		other = "it was not made for this cluster"
	case found.WorkloadPolicy == nil || found.WorkloadPolicy.AcceleratorTopology != wanted.WorkloadPolicy.AcceleratorTopology:
		other = "it is for another topology"
	default:
		return nil
	}
	return &transport.Explained{Of: api.KindExists, Do: "choose another --name",
		Text: fmt.Sprintf("%s: a policy of this name exists, and %s; choose another --name, or delete it, if no node pool uses it, with: gcloud compute resource-policies delete %s --region=%s --project=%s",
			doing, other, wanted.Name, c.region(), c.cluster.Project)}
}

// HasLeft reports whether a pool that doesn't exist has left its resource policy behind: its removal was cut
// off. It reports false if the account may not know that.
func (c *Client) HasLeft(ctx context.Context, pool string) (bool, error) {
	left, err := c.hasUnusedPolicy(ctx, policyName(c.cluster, pool))
	if gcp.IsStatus(err, http.StatusForbidden) {
		return false, nil
	}
	return left, c.explain(err, "checking for leftovers of node pool "+pool)
}

// hasUnusedPolicy reports whether there is a resource policy that was made for this cluster and that no
// pool uses.
func (c *Client) hasUnusedPolicy(ctx context.Context, name string) (bool, error) {
	found, err := c.compute.ResourcePolicies.Get(c.cluster.Project, c.region(), name).Context(ctx).Do()
	if gcp.IsMissing(err) {
		return false, nil
	}
	if err != nil || found.Description != PolicyDescription(c.cluster) {
		return false, err
	}
	clusters, err := AllClusters(ctx, c.access, c.cluster.Project)
	return err == nil && !PolicyIsUsed(clusters, c.region(), name), err
}

// deletePolicy deletes the resource policy of a pool that was removed, if it was made for this cluster and
// no other pool uses it. It reports whether there was one.
func (c *Client) deletePolicy(ctx context.Context, name string) (bool, error) {
	unused, err := c.hasUnusedPolicy(ctx, name)
	if err != nil || !unused {
		return false, err
	}
	o, err := c.compute.ResourcePolicies.Delete(c.cluster.Project, c.region(), name).Context(ctx).Do()
	if err == nil {
		err = c.access.Wait(ctx, gcp.ComputeOperation(c.compute, c.cluster.Project, o), c.tell)
	}
	if gcp.IsMissing(err) {
		return true, nil
	}
	return true, err
}

func (c *Client) region() string { return config.Region(c.cluster.Location) }
