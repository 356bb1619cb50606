package google

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

const (
	jobsBucket = "acme-kn-research-jobs"
	nodesEmail = "kn-research-nodes@acme.iam.gserviceaccount.com"
	jobsEmail  = "kn-research-jobs@acme.iam.gserviceaccount.com"
	zone       = "us-central1-a"
)

var names = config.Names{Project: gcptest.DefaultProject, Zone: zone, Cluster: "research", Namespace: "ml"}

// world is a project without anything, and what `up` does in it.
type world struct {
	*gcptest.Server
	project *Project
	cluster *Cluster
	items   []infra.Item
	list    []infra.Resource
}

// kinds are those in Google Cloud.
func isCloud(i infra.Item) bool {
	return slices.Contains([]infra.Kind{infra.KindAPIs, infra.KindAccount, infra.KindRoles, infra.KindRepository, infra.KindRepositoryAccess, infra.KindBucket,
		infra.KindBucketAccess, infra.KindNetwork, infra.KindRouter, infra.KindNAT, infra.KindCluster, infra.KindPolicies, infra.KindPool, infra.KindIdentity}, i.ID.Kind)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server := gcptest.New(t)
	server.SetProject(names.Project, func(p *gcptest.Project) { p.APIs = map[string]bool{} })
	return connect(t, server, infra.Wanted{Names: names})
}

// connect returns the world of a server, for another process.
func connect(t *testing.T, server *gcptest.Server, wanted infra.Wanted) *world {
	t.Helper()
	access, err := gcp.New(t.Context(), server.Env)
	if err != nil {
		t.Fatal(err)
	}
	access.Interval = time.Millisecond
	project, err := New(t.Context(), access, names)
	if err != nil {
		t.Fatal(err)
	}
	v6e, err := accelerator.Parse("v6e-8", accelerator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	planned, err := gke.Plan(v6e, gke.Options{Nodes: gke.Nodes{Account: nodesEmail, Identity: true, Networks: true}})
	if err != nil {
		t.Fatal(err)
	}
	pools := map[string]gke.Planned{planned.Pool.Name: planned}
	wanted.Pools = []string{planned.Pool.Name}
	w := &world{Server: server, project: project, cluster: project.Cluster(Settings{Machine: "e2-standard-4", MaxNodes: 5})}
	w.items = slices.DeleteFunc(infra.List(wanted), func(i infra.Item) bool { return !isCloud(i) })
	for _, item := range w.items {
		w.list = append(w.list, infra.Resource{Item: item, Actor: project.Actor(item.ID, w.cluster, pools)})
	}
	return w
}

// again is the next run of the command.
func (w *world) again(t *testing.T) *world { return connect(t, w.Server, infra.Wanted{Names: names}) }

func (w *world) read(t *testing.T) infra.States {
	t.Helper()
	found, err := infra.Read(t.Context(), w.list)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (w *world) up(ctx context.Context, reconcile bool, tell infra.Told) error {
	found, err := infra.Read(ctx, w.list)
	if err != nil {
		return err
	}
	return infra.Apply(ctx, w.list, found, infra.MakePlan(w.items, found, reconcile), tell)
}

func quiet(infra.Event) {}

// complete fails the test unless everything is there as it should be.
func (w *world) complete(t *testing.T) {
	t.Helper()
	for _, step := range infra.MakePlan(w.items, w.read(t), false) {
		if step.Action != infra.Fine {
			t.Errorf("%s: %s %v %v", step.ID, step.Action, step.Missing, step.Differences)
		}
	}
}
