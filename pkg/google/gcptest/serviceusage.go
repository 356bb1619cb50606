package gcptest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/api/googleapi"
	"google.golang.org/api/serviceusage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

func (s *Server) usageService() *service {
	return &service{name: gcp.ServiceUsage, base: "/", always: true, routes: []route{
		{http.MethodGet, "v1/projects/{project}/services:batchGet", "serviceusage.services.get", s.getAPIs},
		{http.MethodPost, "v1/projects/{project}/services:batchEnable", "serviceusage.services.enable", s.enableAPIs},
		{http.MethodGet, "v1/operations/{operation}", "", s.getOperation},
	}}
}

func (s *Server) getAPIs(r *request) (any, error) {
	names := r.query["names"]
	if len(names) > 30 {
		return nil, badRequest("At most 30 services can be asked for.")
	}
	answer := &serviceusage.BatchGetServicesResponse{}
	for _, name := range names {
		state := "DISABLED"
		if r.project.APIs[name[strings.LastIndexByte(name, '/')+1:]] {
			state = "ENABLED"
		}
		answer.Services = append(answer.Services, &serviceusage.GoogleApiServiceusageV1Service{
			Name: fmt.Sprintf("projects/%d/services/%s", r.project.Number, name[strings.LastIndexByte(name, '/')+1:]), State: state})
	}
	return answer, nil
}

func (s *Server) enableAPIs(r *request) (any, error) {
	var wanted serviceusage.BatchEnableServicesRequest
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	if !r.project.Billing && slices.Contains(wanted.ServiceIds, gcp.Compute.API()) {
		return nil, &Error{Code: http.StatusBadRequest, Reason: "UREQ_PROJECT_BILLING_NOT_FOUND",
			Message: fmt.Sprintf("Billing account for project '%d' is not found. Billing must be enabled for activation of service(s) '%s' to proceed.", r.project.Number, strings.Join(wanted.ServiceIds, ","))}
	}
	project := r.project
	return s.operate(r, "enable", "projects/"+project.ID, func(failed *Error) {
		if failed != nil {
			return
		}
		for _, name := range wanted.ServiceIds {
			project.APIs[name] = true
			s.cloud.lags.Made(enabledAPI(project.ID, name))
		}
	}), nil
}

func ofUsage(o *operation) *serviceusage.Operation {
	wire := &serviceusage.Operation{Name: "operations/" + o.name, Done: o.done}
	if o.done && o.failed != nil {
		wire.Error = &serviceusage.Status{Code: rpc(o.failed.Code), Message: o.failed.Message}
	} else if o.done {
		wire.Response = googleapi.RawMessage(`{}`)
	}
	return wire
}
