package gke

import (
	"context"
	"fmt"
	"path"
	"strings"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// Cluster names a cluster.
type Cluster struct {
	Project, Location, Name string // the location is a zone or a region
}

func (c Cluster) parent() string { return locationName(c.Project, c.Location) }

// Path returns the name of the cluster in requests.
func (c Cluster) Path() string { return c.parent() + "/clusters/" + c.Name }

// Flags returns the flags that name the cluster, for commands in messages.
func (c Cluster) Flags() string {
	return fmt.Sprintf(" --project %s --zone %s --cluster %s", c.Project, c.Location, c.Name)
}

func (c Cluster) pool(name string) string { return c.Path() + "/nodePools/" + name }

func locationName(project, location string) string {
	return fmt.Sprintf("projects/%s/locations/%s", project, location)
}

// Client makes requests about one cluster.
type Client struct {
	// Progress, which may be nil, is told what an operation is doing.
	Progress func(text string)

	access    *gcp.Access
	container *container.Service
	compute   *compute.Service
	cluster   Cluster
}

// New returns a client. It contacts nothing.
func New(ctx context.Context, access *gcp.Access, cluster Cluster) (*Client, error) {
	c := &Client{access: access, cluster: cluster}
	var err error
	if c.container, err = container.NewService(ctx, access.Options(gcp.Container)...); err != nil {
		return nil, fmt.Errorf("making a client for GKE: %w", err)
	}
	c.compute, err = newService(ctx, access)
	return c, err
}

// Clusters lists the clusters of a project, in all locations that answer.
func Clusters(ctx context.Context, access *gcp.Access, project string) ([]*container.Cluster, error) {
	answer, err := list(ctx, access, project)
	if err != nil {
		return nil, err
	}
	return answer.Clusters, nil
}

// AllClusters is Clusters for callers that delete what another cluster may use: a location that does not answer is
// an error.
func AllClusters(ctx context.Context, access *gcp.Access, project string) ([]*container.Cluster, error) {
	answer, err := list(ctx, access, project)
	if err != nil {
		return nil, err
	}
	if len(answer.MissingZones) > 0 {
		return nil, &transport.Explained{Of: api.KindUnreachable, Text: fmt.Sprintf("%s: %s did not answer, and a cluster there may use what belongs to another: try again later",
			listing(project), strings.Join(answer.MissingZones, ", "))}
	}
	return answer.Clusters, nil
}

func list(ctx context.Context, access *gcp.Access, project string) (*container.ListClustersResponse, error) {
	service, err := container.NewService(ctx, access.Options(gcp.Container)...)
	if err != nil {
		return nil, fmt.Errorf("making a client for GKE: %w", err)
	}
	answer, err := service.Projects.Locations.Clusters.List(locationName(project, "-")).Context(ctx).Do()
	return answer, access.Explain(err, project, listing(project))
}

func listing(project string) string { return "listing the clusters of project " + project }

// Get returns the cluster with its node pools. If there is none, the error is a NoClusterError.
func (c *Client) Get(ctx context.Context) (*container.Cluster, error) {
	found, err := c.container.Projects.Locations.Clusters.Get(c.cluster.Path()).Context(ctx).Do()
	if gcp.IsMissing(err) {
		return nil, c.missing(ctx)
	}
	if err != nil {
		return nil, c.explain(err, "reading cluster "+c.cluster.Name+" in "+c.cluster.Location)
	}
	c.readTopologies(ctx, found.NodePools)
	return found, nil
}

// readTopologies completes pools whose topology is only in their resource policies. Of those that can't be read
// it stays unknown.
func (c *Client) readTopologies(ctx context.Context, pools []*container.NodePool) {
	for _, p := range pools {
		if !lacksTopology(p) {
			continue
		}
		policy, err := c.compute.ResourcePolicies.Get(c.cluster.Project, c.region(), path.Base(p.PlacementPolicy.PolicyName)).Context(ctx).Do()
		if err == nil && policy.WorkloadPolicy != nil {
			p.PlacementPolicy.TpuTopology = policy.WorkloadPolicy.AcceleratorTopology
		}
	}
}

// Pools lists the node pools. If there is no such cluster, the error is a NoClusterError.
func (c *Client) Pools(ctx context.Context) ([]*container.NodePool, error) {
	answer, err := c.container.Projects.Locations.Clusters.NodePools.List(c.cluster.Path()).Context(ctx).Do()
	if gcp.IsMissing(err) {
		return nil, c.missing(ctx)
	}
	if err != nil {
		return nil, c.explain(err, "listing the node pools of cluster "+c.cluster.Name)
	}
	c.readTopologies(ctx, answer.NodePools)
	return answer.NodePools, nil
}

func (c *Client) explain(err error, doing string) error {
	return c.access.Explain(err, c.cluster.Project, doing)
}

func (c *Client) wait(ctx context.Context, o *container.Operation) error {
	return c.access.Wait(ctx, gcp.ContainerOperation(c.container, c.cluster.Project, c.cluster.Location, o), c.tell)
}

func (c *Client) tell(s gcp.State) {
	if c.Progress != nil && !s.Done && s.Text != "" {
		c.Progress(s.Text)
	}
}

// change makes a change, and follows its operation, after those that are in its way.
func (c *Client) change(ctx context.Context, start func() (*container.Operation, error)) error {
	return c.access.Change(ctx, gcp.GKE{Service: c.container, Project: c.cluster.Project, Location: c.cluster.Location}, start, c.tell)
}

// running returns the operation that changes a node pool, nil if none does.
func (c *Client) running(ctx context.Context, pool string) (*container.Operation, error) {
	answer, err := c.container.Projects.Locations.Operations.List(c.cluster.parent()).Context(ctx).Do()
	if err != nil {
		return nil, err
	}
	for _, o := range answer.Operations {
		if o.Status != "DONE" && strings.HasSuffix(o.TargetLink, "/clusters/"+c.cluster.Name+"/nodePools/"+pool) {
			return o, nil
		}
	}
	return nil, nil
}
