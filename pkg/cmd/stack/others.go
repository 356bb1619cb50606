package stack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// GKE returns the cluster as the Container API names it.
func (e *Stack) GKE() gke.Cluster {
	return gke.Cluster{Project: e.Names.Project, Location: e.Names.Zone, Name: e.Names.Cluster}
}

// Others returns the clusters of the project, those with a name like ours first. There are none if they
// can't be listed: that our cluster is missing is still true.
func (e *Stack) Others(ctx context.Context) []*container.Cluster {
	all, err := gke.Clusters(ctx, e.Access, e.Names.Project)
	if err != nil {
		return nil
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	near := human.Nearest(e.Names.Cluster, names, len(names))
	rank := func(c *container.Cluster) int {
		if i := slices.Index(near, c.Name); i >= 0 {
			return i
		}
		return len(near)
	}
	slices.SortFunc(all, func(a, b *container.Cluster) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Location, b.Location))
	})
	return all
}

// Missing says that our cluster doesn't exist, and which others do.
func (e *Stack) Missing(others []*container.Cluster) string {
	n := e.Names
	text := fmt.Sprintf("there is no cluster %s in %s of project %s", n.Cluster, n.Zone, n.Project)
	if len(others) == 0 {
		return text
	}
	var names []string
	for _, c := range others {
		names = append(names, c.Name+" in "+c.Location)
	}
	return text + "; it has " + strings.Join(names, ", ")
}
