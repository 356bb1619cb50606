package gcptest

import (
	"fmt"
	"net/http"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

// Error is a refusal in the form that Google Cloud's services have.
type Error struct {
	Code     int // HTTP status
	Message  string
	Reason   string // for programs: "SERVICE_DISABLED"
	Metadata map[string]string
}

func (e *Error) Error() string { return e.Message }

// rpc returns the code of google.rpc.Code for an HTTP status.
func rpc(status int) int64 {
	codes := map[int]int64{400: 3, 401: 16, 403: 7, 404: 5, 409: 6, 429: 8, 500: 13, 503: 14, 504: 4}
	if code, ok := codes[status]; ok {
		return code
	}
	return 2
}

func (e *Error) json() any {
	// statuses are the names of google.rpc.Code for HTTP statuses.
	statuses := map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ALREADY_EXISTS",
		412: "FAILED_PRECONDITION", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
	}
	body := map[string]any{"code": e.Code, "message": e.Message, "status": statuses[e.Code]}
	if e.Reason != "" {
		body["errors"] = []any{map[string]any{"message": e.Message, "domain": "global", "reason": e.Reason}}
		body["details"] = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
			"reason": e.Reason, "domain": "googleapis.com", "metadata": e.Metadata}}
	}
	return map[string]any{"error": body}
}

func badRequest(format string, args ...any) *Error {
	return &Error{Code: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) *Error {
	return &Error{Code: http.StatusNotFound, Message: fmt.Sprintf(format, args...)}
}

func exists(format string, args ...any) *Error {
	return &Error{Code: http.StatusConflict, Message: fmt.Sprintf(format, args...)}
}

// denied is the refusal of an account without a permission.
func denied(permission, resource string) *Error {
	return &Error{Code: http.StatusForbidden, Reason: "IAM_PERMISSION_DENIED",
		Message:  fmt.Sprintf("Required %q permission(s) for %q.", permission, resource),
		Metadata: map[string]string{"permission": permission, "resource": resource}}
}

// disabled is the refusal of a service that a project has not enabled.
func disabled(service string, p *Project) *Error {
	return &Error{Code: http.StatusForbidden, Reason: "SERVICE_DISABLED",
		Message:  fmt.Sprintf("%s has not been used in project %s before or it is disabled.", service, p.ID),
		Metadata: map[string]string{"service": service, "consumer": fmt.Sprintf("projects/%d", p.Number)}}
}

// LimitError is the refusal of Compute Engine when a quota would be exceeded.
func LimitError(q gcp.Quota) *Error {
	return &Error{Code: http.StatusForbidden, Reason: "QUOTA_EXCEEDED",
		Message: fmt.Sprintf("Quota '%s' exceeded.  Limit: %s.0 in region %s.", q.Metric, q.Limit, q.Region)}
}
