package gcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"cloud.google.com/go/auth"
	"google.golang.org/api/googleapi"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/principal"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// Explain says what was being done ("creating node pool v6e in cluster main") in which
// project, why it failed, and what to do. It returns nil for nil. Once the work was
// interrupted, that is the reason.
func (a *Access) Explain(err error, project, doing string) error {
	var answer *googleapi.Error
	var token *auth.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*UnfinishedError)), errors.As(err, new(*transport.Explained)), errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", doing, err)
	case errors.As(err, &answer):
		why := a.reason(answer, project)
		return explained(why.kind, why.next, err, "%s: %s", doing, why)
	case errors.As(err, &token):
		next, advice := principal.RemedyFor(token, a.env)
		return explained(api.KindForbidden, next, err, "%s: the credentials were refused: %s; %s", doing, said(token), advice)
	}
	server := transport.Server{Name: "Google Cloud", Authority: "an authority that this machine trusts",
		Advice: "check the network, and HTTPS_PROXY if there is a proxy"}
	if why := server.Explain(err); why != "" {
		return explained(api.KindUnreachable, "", err, "%s: %s", doing, why)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func said(e *auth.Error) string {
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(e.Body, &body) == nil && body.Error != "" {
		return strings.TrimSuffix(body.Error+": "+body.Description, ": ")
	}
	return e.Error()
}

type reason struct {
	kind api.ErrorKind
	why  string
	next string // a command, or what else to do; "" if there is nothing
	verb string // what the command does: "enable it"; "" if why ends with next
}

// String returns the reason, and what to do.
func (r reason) String() string {
	if r.next == "" || r.verb == "" {
		return r.why
	}
	return fmt.Sprintf("%s; %s with: %s", r.why, r.verb, r.next)
}

// reason returns why a service has not done what it was asked.
func (a *Access) reason(answer *googleapi.Error, project string) reason {
	detail := detailOf(answer)
	text := strings.TrimRight(cmp.Or(answer.Message, detail.Message, http.StatusText(answer.Code)), ".")
	if r, found := a.chargedElsewhere(answer, detail, project, text); found {
		return r
	}
	switch {
	case isOff(answer, detail):
		name := cmp.Or(detail.Metadata["service"], lazyregexp.Of(serviceIn).FindString(text), "SERVICE.googleapis.com")
		return reason{api.KindForbidden, fmt.Sprintf("the API %s is not enabled in project %s", name, project),
			fmt.Sprintf("gcloud services enable %s --project %s", name, project), "enable it"}
	case detail.Reason == "BILLING_DISABLED" || detail.has("billingNotEnabled") || strings.Contains(text, "UREQ_PROJECT_BILLING"):
		return reason{api.KindForbidden, fmt.Sprintf("project %s has no billing account", project),
			fmt.Sprintf("gcloud billing projects link %s --billing-account=ACCOUNT", project), "link one"}
	}
	if constraint := lazyregexp.Of(constraintIn).FindStringSubmatch(text); constraint != nil {
		return reason{api.KindForbidden, "a policy of the organization forbids it: " + text,
			fmt.Sprintf("gcloud resource-manager org-policies describe %s --effective --project=%s", constraint[1], project), "see it"}
	}
	if q, found := quotaOf(detail, text); found {
		return reason{api.KindFailed, q.String(), "", ""}
	}
	if answer.Code == http.StatusTooManyRequests && answer.Body == "" { // of an operation
		return reason{api.KindFailed, fmt.Sprintf("there are not enough resources: %s; try again later, or elsewhere", text), "", ""}
	}
	switch answer.Code {
	case http.StatusUnauthorized:
		next, advice := principal.Remedy(a.env)
		return reason{api.KindForbidden, fmt.Sprintf("the credentials were refused: %s; %s", text, advice), next, ""}
	case http.StatusForbidden:
		return a.denied(detail, project, text)
	case http.StatusNotFound:
		if answer.Message == "" {
			return reason{api.KindUnreachable, "got a web page instead of an API response: check the network, and HTTPS_PROXY if there is a proxy", "", ""}
		}
		return reason{api.KindNotFound, "it doesn't exist: " + text, "", ""}
	case http.StatusConflict:
		return reason{api.KindExists, "it exists already: " + text, "", ""}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return reason{api.KindUnreachable, fmt.Sprintf("the service is too busy: %s; try again later", text), "", ""}
	case http.StatusBadRequest:
		if detail.Reason == userProjectDenied {
			return a.denied(detail, project, text)
		}
		return reason{api.KindFailed, "the service rejected the request: " + text, "", ""}
	}
	return reason{api.KindFailed, fmt.Sprintf("the service answered %d: %s", answer.Code, text), "", ""}
}

// denied returns which permission is missing, whose, and how to grant it.
func (a *Access) denied(d detail, project, text string) reason {
	permission := cmp.Or(d.Metadata["permission"], permissionIn(text))
	who := cmp.Or(a.account, "the account in use")
	if d.Reason == "CONSUMER_INVALID" || d.Reason == userProjectDenied && permission == "" || permission == "" && lazyregexp.Of(ofProject).MatchString(text) {
		return reason{api.KindNotFound, fmt.Sprintf("project %s doesn't exist, or %s may not use it: %s", project, who, text), "gcloud projects list", "list those that you may use"}
	}
	if permission == "" {
		return reason{api.KindForbidden, fmt.Sprintf("%s may not do this in project %s: %s", who, project, text), "", ""}
	}
	r := reason{kind: api.KindForbidden, why: fmt.Sprintf("%s needs the permission %s in project %s: %s", who, permission, project, text)}
	if role := RoleWith(permission); role != "" {
		r.next = fmt.Sprintf("gcloud projects add-iam-policy-binding %s --member=%s --role=%s", project, principal.Member(a.account), role)
		r.verb = "grant it"
	}
	return r
}

// permissionIn returns the permission that an answer names, such as container.clusters.update; "" for none.
// It leaves out accounts, admin@acme.iam.gserviceaccount.com, and servers, cloud.google.com.
func permissionIn(text string) string {
	for _, name := range lazyregexp.Of(dotted).FindAllString(text, -1) {
		if lazyregexp.Of(permissionForm).MatchString(name) && !strings.HasSuffix(name, ".com") {
			return name
		}
	}
	return ""
}

const (
	// dotted matches words that dots join, with the whole of an account that has them.
	dotted = `[\w@-]+(\.[\w@-]+)+`
	// permissionForm matches a word that has the form of a permission.
	permissionForm = `^[a-z]+\.[a-zA-Z]+\.[a-zA-Z]+$`
	// ofProject matches how services refuse a project as a whole.
	ofProject = `(?i)permission denied (on resource project|for project|on project)`
	// constraintIn matches a constraint of an organization: "Constraint constraints/compute.restrictCloudNATUsage
	// violated for projects/acme."
	constraintIn = `\bconstraints/([a-z]+\.[A-Za-z.]*[A-Za-z])`
	// serviceIn matches the service that an answer names.
	serviceIn = `\b[a-z]+\.googleapis\.com\b`
)

// RoleWith returns the predefined role of an administrator that has a permission, "" if it is
// not one that this program needs.
func RoleWith(permission string) string {
	for _, r := range roles {
		if strings.HasPrefix(permission, r.prefix) {
			return r.role
		}
	}
	return ""
}

// roles are the roles by the permissions that they have; the first that fits counts.
var roles = []struct{ prefix, role string }{
	{"container.clusters.get", "roles/container.clusterViewer"},
	{"container.clusters.list", "roles/container.clusterViewer"},
	{"container.operations.", "roles/container.clusterViewer"},
	{"container.clusters.connect", "roles/container.viewer"}, // the API server's name that IAM protects
	{"container.", "roles/container.admin"},
	{"compute.networks.", "roles/compute.networkAdmin"},
	{"compute.subnetworks.", "roles/compute.networkAdmin"},
	{"compute.routers.", "roles/compute.networkAdmin"},
	{"compute.firewalls.", "roles/compute.securityAdmin"},
	{"compute.resourcePolicies.", "roles/compute.instanceAdmin.v1"},
	{"compute.", "roles/compute.viewer"},
	{"iam.serviceAccounts.actAs", "roles/iam.serviceAccountUser"},
	{"iam.serviceAccounts.", "roles/iam.serviceAccountAdmin"},
	{"resourcemanager.projects.get", "roles/browser"},
	{"resourcemanager.projects.", "roles/resourcemanager.projectIamAdmin"},
	{"serviceusage.services.use", "roles/serviceusage.serviceUsageConsumer"},
	{"serviceusage.", "roles/serviceusage.serviceUsageAdmin"},
	{"artifactregistry.", "roles/artifactregistry.admin"},
	{"storage.", "roles/storage.admin"},
	{"billing.", "roles/billing.projectManager"},
}
