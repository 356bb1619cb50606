package gcptest

import (
	"fmt"
	"net/http"

	"google.golang.org/api/artifactregistry/v1"
	"google.golang.org/api/iam/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

// cloudState is what the services have that no other state has.
type cloudState struct {
	accounts     map[string]*iam.ServiceAccount // by address
	policies     map[string]*Policy             // by resource
	writes       int                            // of policies
	lags         lagState
	repositories map[string]*artifactregistry.Repository
	buckets      map[string]*bucket
}

// cloudServices are the services without a state of their own.
func (s *Server) cloudServices() []*service {
	s.cloud = cloudState{accounts: map[string]*iam.ServiceAccount{}, policies: map[string]*Policy{}, repositories: map[string]*artifactregistry.Repository{}, buckets: map[string]*bucket{}}
	return []*service{s.iamService(), s.usageService(), s.resourceManagerService(), s.billingService(), s.registryService(), s.storageService()}
}

const accountsPath = "v1/projects/{project}/serviceAccounts"

func (s *Server) iamService() *service {
	routes := []route{
		{http.MethodPost, accountsPath, "iam.serviceAccounts.create", s.createAccount},
		{http.MethodGet, accountsPath + "/{account}", "iam.serviceAccounts.get", with(s.account, found)},
		{http.MethodDelete, accountsPath + "/{account}", "iam.serviceAccounts.delete", with(s.account, s.deleteAccount)},
	}
	routes = append(routes, s.policyRoutes(http.MethodPost, accountsPath+"/{account}", "iam.serviceAccounts", func(r *request) (string, error) {
		a, err := s.account(r)
		if err != nil {
			return "", err
		}
		return a.Name, nil
	})...)
	return &service{name: gcp.IAM, base: "/", routes: routes}
}

// AddAccount adds a service account that all services know.
func (s *Server) AddAccount(project, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addAccount(project, id)
}

// HasAccount reports whether there is a service account with an address.
func (s *Server) HasAccount(email string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cloud.accounts[email] != nil
}

func (s *Server) addAccount(project, id string) *iam.ServiceAccount {
	email := fmt.Sprintf("%s@%s.iam.gserviceaccount.com", id, project)
	a := &iam.ServiceAccount{Name: "projects/" + project + "/serviceAccounts/" + email, ProjectId: project,
		Email: email, UniqueId: fmt.Sprintf("%021d", 100+len(s.cloud.accounts)), Etag: "etag"}
	s.cloud.accounts[email] = a
	return a
}

func (s *Server) account(r *request) (*iam.ServiceAccount, error) {
	a := s.cloud.accounts[r.values["account"]]
	if a == nil {
		return nil, notFound("Unknown service account: projects/%s/serviceAccounts/%s", r.values["project"], r.values["account"])
	}
	if s.cloud.lags.Refuses(HiddenAccount, a.Email, "requests") {
		return nil, &Error{Code: http.StatusForbidden, Reason: "IAM_PERMISSION_DENIED", Message: "Permission 'iam.serviceAccounts.get' denied on resource (or it may not exist).",
			Metadata: map[string]string{"permission": "iam.serviceAccounts.get"}}
	}
	return a, nil
}

func (s *Server) createAccount(r *request) (any, error) {
	var wanted iam.CreateServiceAccountRequest
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	if len(wanted.AccountId) < 6 || len(wanted.AccountId) > 30 {
		return nil, badRequest("The account ID %q does not have a length between 6 and 30.", wanted.AccountId)
	}
	project := r.values["project"]
	if s.cloud.accounts[fmt.Sprintf("%s@%s.iam.gserviceaccount.com", wanted.AccountId, project)] != nil {
		return nil, exists("Service account %s already exists within project projects/%s.", wanted.AccountId, project)
	}
	a := s.addAccount(project, wanted.AccountId)
	s.cloud.lags.Made(a.Email)
	if wanted.ServiceAccount != nil {
		a.DisplayName, a.Description = wanted.ServiceAccount.DisplayName, wanted.ServiceAccount.Description
	}
	return a, nil
}

func (s *Server) deleteAccount(_ *request, a *iam.ServiceAccount) (any, error) {
	delete(s.cloud.accounts, a.Email)
	delete(s.cloud.policies, a.Name)
	s.forget(a.Email)
	return nil, nil
}
