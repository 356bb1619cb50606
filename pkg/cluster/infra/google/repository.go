package google

import (
	"context"
	"fmt"
	"reflect"

	"google.golang.org/api/artifactregistry/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
)

type repository struct {
	*Project
	id infra.ID
}

const day = 24 * 3600 // seconds

// Images without a tag were replaced; the others are made again when a job needs them.
const (
	untaggedFor = 30 * day
	unusedFor   = 180 * day
	keptImages  = 10
)

func cleanup() map[string]artifactregistry.CleanupPolicy {
	older := func(state string, seconds int) *artifactregistry.CleanupPolicyCondition {
		return &artifactregistry.CleanupPolicyCondition{TagState: state, OlderThan: fmt.Sprintf("%ds", seconds)}
	}
	return map[string]artifactregistry.CleanupPolicy{
		"kinetic-untagged": {Id: "kinetic-untagged", Action: "DELETE", Condition: older("UNTAGGED", untaggedFor)},
		"kinetic-old":      {Id: "kinetic-old", Action: "DELETE", Condition: older("ANY", unusedFor)},
		"kinetic-newest": {Id: "kinetic-newest", Action: "KEEP",
			MostRecentVersions: &artifactregistry.CleanupPolicyMostRecentVersions{KeepCount: keptImages}},
	}
}

func (p *Project) repositoryParent() string {
	return "projects/" + p.Names.Project + "/locations/" + p.Names.Images()
}

func (p *Project) repositoryName() string {
	return p.repositoryParent() + "/repositories/" + p.Names.Repository()
}

// readRepository reads the repository, nil if there is none.
func (p *Project) readRepository(ctx context.Context) (*artifactregistry.Repository, error) {
	found, err := p.services.Registry.Projects.Locations.Repositories.Get(p.repositoryName()).Context(ctx).Do()
	if p.absent(ctx, err) {
		return nil, nil
	}
	if err != nil {
		return nil, p.explain(err, "reading", infra.ID{Kind: infra.KindRepository, Name: p.Names.Repository()})
	}
	return found, nil
}

func (r repository) Get(ctx context.Context) (infra.State, error) {
	s := infra.State{Detail: fmt.Sprintf("in %s, deletes images after %d days", r.Names.Images(), unusedFor/day)}
	found, err := r.readRepository(ctx)
	if err != nil {
		return infra.State{}, err
	}
	if found == nil {
		return s, nil
	}
	s = r.existing(r.id, Labelled(found.Labels))
	s.Detail = "in " + r.Names.Images()
	if found.Format != "DOCKER" {
		s.Differences = append(s.Differences, infra.Difference{Setting: "format", Have: found.Format, Want: "DOCKER", Fixed: true})
	}
	if len(found.CleanupPolicies) == 0 {
		d := infra.Difference{Setting: "cleanup policy", Want: fmt.Sprintf("images are deleted after %d days", unusedFor/day)}
		if s.Foreign {
			d.Command = fmt.Sprintf("gcloud artifacts repositories set-cleanup-policies %s --location=%s --project=%s --policy=FILE", r.id.Name, r.Names.Images(), r.Names.Project)
		}
		s.Differences = append(s.Differences, d)
	} else if !reflect.DeepEqual(found.CleanupPolicies, cleanup()) {
		s.Detail += ", cleanup policy of your own"
	}
	return s, nil
}

func (r repository) Ensure(ctx context.Context, have infra.State) error {
	repositories := r.services.Registry.Projects.Locations.Repositories
	if have.Exists {
		_, err := repositories.Patch(r.repositoryName(), &artifactregistry.Repository{CleanupPolicies: cleanup()}).UpdateMask("cleanupPolicies").Context(ctx).Do()
		return r.explain(err, "changing", r.id)
	}
	return r.explain(r.create(ctx), "creating", r.id)
}

// create creates the repository. If another run is creating it, it waits until it is there.
func (r repository) create(ctx context.Context) error {
	repositories := r.services.Registry.Projects.Locations.Repositories
	begun := false
	return backoff.Retry(ctx, settlesWithin, func(err error) bool { return begun && gcp.IsMissing(err) }, func() error {
		started, err := repositories.Create(r.repositoryParent(), &artifactregistry.Repository{
			Format: "DOCKER", Description: "Images of the jobs of cluster " + r.Names.Cluster, Labels: gke.ResourceLabels(), CleanupPolicies: cleanup(),
		}).RepositoryId(r.Names.Repository()).Context(ctx).Do()
		if err == nil {
			err = r.wait(ctx, r.id, r.operation(started))
		}
		if begun = gcp.IsExists(err); begun {
			_, err = repositories.Get(r.repositoryName()).Context(ctx).Do()
		}
		return err
	})
}

func (r repository) Delete(ctx context.Context) error {
	started, err := r.services.Registry.Projects.Locations.Repositories.Delete(r.repositoryName()).Context(ctx).Do()
	if err == nil {
		err = r.wait(ctx, r.id, r.operation(started))
	}
	return r.deleted(ctx, r.id, err, r)
}

func (r repository) operation(started *artifactregistry.Operation) gcp.Operation {
	command := fmt.Sprintf("gcloud artifacts operations describe %s", started.Name)
	return gcp.NewOperation(command, started, registryState, func(ctx context.Context) (*artifactregistry.Operation, error) {
		return r.services.Registry.Projects.Locations.Operations.Get(started.Name).Context(ctx).Do()
	})
}

func registryState(o *artifactregistry.Operation) gcp.State {
	if o.Error != nil {
		return gcp.LongRunning(o.Done, o.Error.Code, o.Error.Message)
	}
	return gcp.State{Done: o.Done}
}
