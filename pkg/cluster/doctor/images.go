package doctor

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

const (
	imageGroup = "Images"
	imageCheck = "image registry"
	// artifactRegistry ends the hosts of Artifact Registry.
	artifactRegistry = "-docker.pkg.dev"
)

func (c *cloud) images() Check {
	host, path, _ := strings.Cut(c.Images, "/")
	check := Check{Group: imageGroup, Name: imageCheck, Within: Within}
	switch location, ours := strings.CutSuffix(host, artifactRegistry); {
	case c.Images == "":
		check.Run = func(context.Context) Finding {
			return Skip("none is known; pods install what their jobs need")
		}
	case ours && c.knowsProject():
		check.Needs = []string{ProjectCheck}
		check.Run = func(ctx context.Context) Finding { return c.repository(ctx, location, path) }
	default:
		check.Run = func(ctx context.Context) Finding { return answers(ctx, c.Images) }
	}
	return check
}

// repository looks for a repository of Artifact Registry. Its path is PROJECT/REPOSITORY/…
func (c *cloud) repository(ctx context.Context, location, path string) Finding {
	project, path, _ := strings.Cut(path, "/")
	id, _, _ := strings.Cut(path, "/")
	found, err := c.api().Registry.Projects.Locations.Repositories.Get(fmt.Sprintf("projects/%s/locations/%s/repositories/%s", project, location, id)).Context(ctx).Do()
	create := fmt.Sprintf("gcloud artifacts repositories create %s --repository-format=docker --location=%s --project=%s", id, location, project)
	switch {
	case gcp.IsMissing(err) && c.ownImages() && c.lacksCluster(ctx):
		return Lacking(GKECheck)
	case gcp.IsMissing(err):
		return Bad(create, "there is no repository %s in %s, so images can't be stored", id, location)
	case err != nil:
		return c.failed(ctx, err, "reading the repository "+id)
	case found.Format != "" && found.Format != "DOCKER":
		return Bad("", "the repository %s is for %s, not for images: choose another with --image-repo or KINETIC_IMAGE_REPO", id, strings.ToLower(found.Format))
	}
	return Good("%s", c.Images)
}

func (c *cloud) ownImages() bool {
	return c.Images == config.Repository(c.Target.Project, c.Target.Zone, c.Target.Cluster)
}

// answers looks whether the registry of a repository answers. Whether it lets someone in is only known with an image.
func answers(ctx context.Context, images string) Finding {
	repository, err := name.NewRepository(images)
	if err != nil {
		return Bad("", "%s is not a repository for images: choose another, such as us-docker.pkg.dev/PROJECT/REPOSITORY/env, with --image-repo or KINETIC_IMAGE_REPO", images)
	}
	host := repository.RegistryStr()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, repository.Scheme()+"://"+host+"/v2/", nil)
	if err != nil {
		return Bad("", "%s is not the address of a registry: %v", host, err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return Bad("", "%s can't be reached: %v: check the network, and HTTPS_PROXY if there is a proxy", host, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusUnauthorized {
		return Bad("", "%s answers %s: is it a registry?", host, answer.Status)
	}
	return Good("%s answers", host)
}
