package google

import (
	"context"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/store/expiry"
)

// Cluster returns the cluster.
func (p *Project) Cluster(s Settings) *Cluster {
	return &Cluster{project: p, id: infra.ID{Kind: infra.KindCluster, Name: p.Names.Cluster}, settings: s}
}

// Actor returns what acts on a resource in Google Cloud, nil for one that is elsewhere. pools are
// the node pools by their names.
func (p *Project) Actor(id infra.ID, cluster *Cluster, pools map[string]gke.Planned) infra.Actor {
	actor := p.actor(id, cluster, pools)
	if actor == nil || id.Kind == infra.KindAPIs {
		return actor
	}
	return patient{actor, p, id}
}

// patient is an actor that tries again while a service doesn't know yet what this run has made or enabled, or
// what another run has enabled meanwhile.
type patient struct {
	infra.Actor
	project *Project
	id      infra.ID
}

func (p patient) Get(ctx context.Context) (infra.State, error) {
	var have infra.State
	enabled := func(err error) bool {
		if p.project.stateOfDisabled(ctx, err) != "ENABLED" {
			return false
		}
		p.project.tellOfWait(p.id, gcp.NewAPI)
		return true
	}
	err := p.project.retry(ctx, enabled, func() (err error) {
		have, err = p.Actor.Get(ctx)
		return err
	})
	return have, err
}

func (p patient) Ensure(ctx context.Context, have infra.State) error {
	return p.project.Patiently(ctx, p.id, func() error { return p.Actor.Ensure(ctx, have) })
}

func (p *Project) actor(id infra.ID, cluster *Cluster, pools map[string]gke.Planned) infra.Actor {
	n := p.Names
	switch id.Kind {
	case infra.KindAccount, infra.KindRoles, infra.KindIdentity:
		return p.accountActor(id)
	case infra.KindAPIs:
		return apis{p, id}
	case infra.KindRepository:
		return repository{p, id}
	case infra.KindRepositoryAccess:
		return access{p, id, []grant{
			{"roles/artifactregistry.reader", n.Member(config.NodesAccount)},
			{"roles/artifactregistry.writer", n.Member(config.BuildsAccount)},
		}, p.services.repositoryPolicy, p.repositoryName()}
	case infra.KindBucket, infra.KindBucketAccess:
		return p.bucketActor(id)
	case infra.KindNetwork:
		return network{p, id}
	case infra.KindRouter:
		return router{p, id}
	case infra.KindNAT:
		return nat{p, id}
	case infra.KindCluster:
		return cluster
	case infra.KindPolicies:
		return policies{p, id}
	case infra.KindPool:
		return pool{cluster, id, pools[id.Name]}
	}
	return nil
}

func (p *Project) accountActor(id infra.ID) infra.Actor {
	of := config.NodesAccount
	for _, other := range []string{config.BuildsAccount, config.JobsAccount} {
		if id.Name == p.Names.Account(other) {
			of = other
		}
	}
	switch id.Kind {
	case infra.KindRoles:
		return access{p, id, []grant{
			{"roles/container.defaultNodeServiceAccount", p.Names.Member(of)},
			{"roles/serviceusage.serviceUsageConsumer", p.Names.Member(of)}, // image streaming
		}, p.services.ProjectPolicy, p.Names.Project}
	case infra.KindIdentity:
		return access{p, id, []grant{{gke.IdentityRole, p.Names.Identity()}}, p.services.AccountPolicy, account{p, id, of}.name()}
	}
	return account{p, id, of}
}

// BucketReader is the role with which an account may read what a bucket is like (storage.buckets.get), and
// not its policy. TensorStore, with which Orbax on several hosts writes, looks at the bucket first.
const BucketReader = "roles/storage.legacyBucketReader"

func (p *Project) bucketActor(id infra.ID) infra.Actor {
	jobs := id.Name == p.Names.Jobs()
	if id.Kind == infra.KindBucket {
		b := bucket{Project: p, id: id}
		if jobs {
			b.expires = expiry.Shared("")
		}
		return b
	}
	// Objects, and reading what the bucket itself is like, which many libraries do first. Who may change the
	// bucket could open it.
	objects, account := "roles/storage.objectUser", config.JobsAccount
	if !jobs {
		objects, account = "roles/storage.objectAdmin", config.BuildsAccount // sources, and logs
	}
	return access{p, id, []grant{
		{objects, p.Names.Member(account)},
		{BucketReader, p.Names.Member(account)},
	}, p.services.BucketPolicy, id.Name}
}
