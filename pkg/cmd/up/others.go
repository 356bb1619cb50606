package up

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/suggest"
)

// others returns the clusters of the project, those with a name like ours first. There are none if they
// can't be listed: that our cluster is missing is still true.
func (e *estate) others(ctx context.Context) []*container.Cluster {
	all, err := gke.Clusters(ctx, e.access, e.names.Project)
	if err != nil {
		return nil
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	near := suggest.Of(e.names.Cluster, names, len(names))
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

// without says that our cluster doesn't exist, and which others do.
func (e *estate) without(others []*container.Cluster) string {
	n := e.names
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

// tellOfAdoption says what becomes of a cluster of the Python package, and what stays as that has made it.
func (o *upOptions) tellOfAdoption(u *ui.UI, e *estate) {
	n := e.names
	u.Warn(fmt.Sprintf("the Python package keras-kinetic has made this cluster: its Pulumi state in gs://%s is stale afterwards, so don't use its up, down and pool commands for the cluster any more; "+
		"to have it forget the cluster, type, once this is done: pulumi login gs://%s && pulumi stack rm organization/kinetic/%s-%s --force", n.Pulumi(), n.Pulumi(), n.Project, n.Cluster))
	if c := e.cluster.Last(); c.ReleaseChannel != nil && c.ReleaseChannel.Channel != "" && c.ReleaseChannel.Channel != google.Channel {
		u.Note(fmt.Sprintf("cluster %s stays in the release channel %s; new clusters are in %s", n.Cluster, c.ReleaseChannel.Channel, google.Channel))
	}
}

// tellOfLifetimes warns of nodes that GKE deletes while jobs run there, before a cluster is taken over.
func tellOfLifetimes(u *ui.UI, e *estate) {
	n, found := e.names, e.cluster.Last()
	if text := (gke.Cluster{Project: n.Project, Location: n.Zone, Name: n.Cluster}).Lifetimes(found); text != "" && !isAutopilot(found) {
		u.Warn(text)
	}
}
