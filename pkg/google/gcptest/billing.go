package gcptest

import (
	"net/http"

	"google.golang.org/api/cloudbilling/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

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
