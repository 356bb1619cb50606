package gcptest

import (
	"net/http"

	"google.golang.org/api/artifactregistry/v1"
	"google.golang.org/api/googleapi"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

const (
	repositoriesPath = "v1/projects/{project}/locations/{location}/repositories"
	repositoryPath   = repositoriesPath + "/{repository}"
)

func (s *Server) registryService() *service {
	routes := []route{
		{http.MethodGet, repositoryPath, "artifactregistry.repositories.get", s.getRepository},
		{http.MethodPost, repositoriesPath, "artifactregistry.repositories.create", s.createRepository},
		{http.MethodPatch, repositoryPath, "artifactregistry.repositories.update", s.updateRepository},
		{http.MethodDelete, repositoryPath, "artifactregistry.repositories.delete", s.deleteRepository},
		{http.MethodGet, "v1/projects/{project}/locations/{location}/operations/{operation}", "", s.getOperation},
	}
	routes = append(routes, s.policyRoutes(http.MethodGet, repositoryPath, "artifactregistry.repositories", func(r *request) (string, error) {
		_, err := s.getRepository(r)
		return repositoryName(r.values), err
	})...)
	return &service{name: gcp.ArtifactRegistry, base: "/", routes: routes}
}

// AddRepository adds a repository: "projects/acme/locations/us/repositories/kn-research".
func (s *Server) AddRepository(name string, r *artifactregistry.Repository) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Name = name
	s.cloud.repositories[name] = r
}

// Repository returns a repository, nil if there is none. The caller must not change it.
func (s *Server) Repository(name string) *artifactregistry.Repository {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cloud.repositories[name]
}

func repositoryName(values map[string]string) string {
	return "projects/" + values["project"] + "/locations/" + values["location"] + "/repositories/" + values["repository"]
}

func (s *Server) getRepository(r *request) (any, error) {
	if found := s.cloud.repositories[repositoryName(r.values)]; found != nil {
		return found, nil
	}
	if o := s.creating(repositoryName(r.values)); o != nil {
		o.step() // time goes by
	}
	return nil, notFound("Requested entity was not found.")
}

// creating returns the operation that creates a repository, nil if there is none.
func (s *Server) creating(name string) *operation {
	return s.pending(func(o *operation) bool {
		return o.service == gcp.ArtifactRegistry && o.kind == "create" && o.target == name
	})
}

func (s *Server) createRepository(r *request) (any, error) {
	var wanted artifactregistry.Repository
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	r.values["repository"] = r.query.Get("repositoryId")
	wanted.Name = repositoryName(r.values)
	if s.cloud.repositories[wanted.Name] != nil || s.creating(wanted.Name) != nil {
		return nil, exists("the repository already exists")
	}
	return s.operate(r, "create", wanted.Name, func(failed *Error) {
		if failed == nil {
			s.cloud.repositories[wanted.Name] = &wanted
		}
	}), nil
}

func (s *Server) updateRepository(r *request) (any, error) {
	found := s.cloud.repositories[repositoryName(r.values)]
	if found == nil {
		return nil, notFound("Requested entity was not found.")
	}
	var wanted artifactregistry.Repository
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	if r.query.Get("updateMask") != "cleanupPolicies" {
		return nil, badRequest("update mask %q is not supported", r.query.Get("updateMask"))
	}
	found.CleanupPolicies = wanted.CleanupPolicies
	return found, nil
}

func (s *Server) deleteRepository(r *request) (any, error) {
	name := repositoryName(r.values)
	if s.cloud.repositories[name] == nil {
		return nil, notFound("Requested entity was not found.")
	}
	return s.operate(r, "delete", name, func(failed *Error) {
		if failed == nil {
			delete(s.cloud.repositories, name)
			delete(s.cloud.policies, name)
		}
	}), nil
}

func ofRegistry(o *operation) *artifactregistry.Operation {
	wire := &artifactregistry.Operation{Name: "projects/" + o.project + "/locations/" + o.location + "/operations/" + o.name, Done: o.done}
	if o.done && o.failed != nil {
		wire.Error = &artifactregistry.Status{Code: rpc(o.failed.Code), Message: o.failed.Message}
	} else if o.done {
		wire.Response = googleapi.RawMessage(`{}`)
	}
	return wire
}
