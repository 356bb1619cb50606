package google

import (
	"net/http"
	"testing"

	"google.golang.org/api/artifactregistry/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// Two people run up: what needs the repository begins only when it is there.
func TestRepositoryThatIsBeingCreated(t *testing.T) {
	for name, failed := range map[string]*gcptest.Error{"by another run": nil, "by one that fails": {Code: http.StatusInternalServerError, Message: "Internal error."}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.SetProject("acme", func(p *gcptest.Project) { p.APIs["artifactregistry.googleapis.com"] = true })
			if failed != nil {
				w.FailOperation(gcptest.OperationFault{Kind: "create", Error: failed})
			}
			p := w.project
			_, err := p.services.Registry.Projects.Locations.Repositories.Create(p.repositoryParent(), &artifactregistry.Repository{Format: "DOCKER"}).RepositoryId("kn-research").Do()
			if err != nil {
				t.Fatal(err)
			}
			r := repository{p, infra.ID{Kind: infra.KindRepository, Name: "kn-research"}}
			if err := r.Ensure(t.Context(), infra.State{}); err != nil {
				t.Fatal(err)
			}
			if w.Repository(p.repositoryName()) == nil {
				t.Error("the repository is not there yet")
			}
		})
	}
}
