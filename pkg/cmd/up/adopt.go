package up

import (
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/stack"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// tellOfAdoption says what becomes of a cluster of the Python package, and what stays as that has made it.
func (o *upOptions) tellOfAdoption(u *ui.UI, e *stack.Stack) {
	n := e.Names
	u.Warn(fmt.Sprintf("the Python package keras-kinetic created this cluster, and its Pulumi state in gs://%s will be out of date: don't use the up, down and pool commands of keras-kinetic for this cluster any more; "+
		"to remove the cluster from that state once this is done: pulumi login gs://%s && pulumi stack rm organization/kinetic/%s-%s --force", n.Pulumi(), n.Pulumi(), n.Project, n.Cluster))
	if c := e.Cluster.Last(); c.ReleaseChannel != nil && c.ReleaseChannel.Channel != "" && c.ReleaseChannel.Channel != google.Channel {
		u.Note(fmt.Sprintf("cluster %s stays in the release channel %s; new clusters are in %s", n.Cluster, c.ReleaseChannel.Channel, google.Channel))
	}
}

// tellOfLifetimes warns of nodes that GKE deletes while jobs run there, before a cluster is taken over.
func tellOfLifetimes(u *ui.UI, e *stack.Stack) {
	found := e.Cluster.Last()
	if text := e.GKE().Lifetimes(found); text != "" && !gke.IsAutopilot(found) {
		u.Warn(text)
	}
}
