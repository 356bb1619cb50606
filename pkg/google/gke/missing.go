package gke

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// NoClusterError says that a project has no such cluster.
type NoClusterError struct {
	Cluster Cluster
	// Others are the clusters that the project has, "main in us-central1-a"; nil if they could
	// not be listed.
	Others []string
}

// Error names the clusters that there are.
func (e *NoClusterError) Error() string {
	text := fmt.Sprintf("project %s has no cluster %s in %s", e.Cluster.Project, e.Cluster.Name, e.Cluster.Location)
	switch {
	case e.Others == nil:
		return text
	case len(e.Others) == 0:
		return text + ", nor any other"
	}
	return text + "; it has " + strings.Join(e.Others, ", ")
}

// Kind returns the kind of the error.
func (*NoClusterError) Kind() api.ErrorKind { return api.KindNotFound }

// missing returns the error for a cluster that doesn't exist.
func (c *Client) missing(ctx context.Context) error {
	e := &NoClusterError{Cluster: c.cluster}
	clusters, err := AllClusters(ctx, c.access, c.cluster.Project)
	if err != nil {
		return e
	}
	e.Others = []string{}
	for _, other := range clusters {
		e.Others = append(e.Others, other.Name+" in "+other.Location)
	}
	slices.Sort(e.Others)
	return e
}
