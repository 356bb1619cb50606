package doctor

import (
	"context"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
)

const runtimeCheck = "Pathways images"

// RuntimeImages says where the images of the Pathways runtime are.
type RuntimeImages struct {
	Repository string
	Registry   *image.Client
}

func (r *RuntimeImages) check() Check {
	return Check{Group: imageGroup, Name: runtimeCheck, Within: image.PathwaysWithin, Run: r.look}
}

// look asks which versions there are. Which of them a job needs depends on its JAX. The nodes may reach a registry that
// does not answer here.
func (r *RuntimeImages) look(ctx context.Context) Finding {
	versions, err := image.PathwaysVersions(ctx, r.Registry, r.Repository)
	switch {
	case err != nil:
		return Skip("could not be looked for: %v", err)
	case len(versions) == 0:
		return Bad("", "%s has no server and proxy_server for jax %s or newer: name a copy that has them with KINETIC_PATHWAYS_IMAGES", r.Repository, api.Contract.Pathways.JAX)
	case len(versions) == 1:
		return Good("%s has %s", r.Repository, versions[0])
	}
	return Good("%s has %d versions, %s to %s", r.Repository, len(versions), versions[0], versions[len(versions)-1])
}
