package gcptest

import (
	"fmt"
	"net/http"

	"google.golang.org/api/cloudbilling/v1"
	"google.golang.org/api/cloudresourcemanager/v3"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

func (s *Server) resourceManagerService() *service {
	const path = "v3/projects/{project}"
	routes := []route{{http.MethodGet, path, "resourcemanager.projects.get", func(r *request) (any, error) {
		return &cloudresourcemanager.Project{Name: fmt.Sprintf("projects/%d", r.project.Number), ProjectId: r.project.ID, State: "ACTIVE"}, nil
	}}}
	routes = append(routes, s.policyRoutes(http.MethodPost, path, "resourcemanager.projects", func(r *request) (string, error) {
		return "projects/" + r.project.ID, nil
	})...)
	return &service{name: gcp.ResourceManager, base: "/", routes: routes}
}

func (s *Server) billingService() *service {
	return &service{name: gcp.Billing, base: "/", routes: []route{
		{http.MethodGet, "v1/projects/{project}/billingInfo", "resourcemanager.projects.get", func(r *request) (any, error) {
			info := &cloudbilling.ProjectBillingInfo{Name: "projects/" + r.project.ID + "/billingInfo", ProjectId: r.project.ID, BillingEnabled: r.project.Billing}
			if r.project.Billing {
				info.BillingAccountName = "billingAccounts/012345-6789AB-CDEF01"
			}
			return info, nil
		}},
	}}
}
