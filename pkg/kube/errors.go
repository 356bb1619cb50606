package kube

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/pattern"
	"github.com/kubectl-kinetic/kinetic/pkg/transport"
)

// explanation is an error in our words that still wraps its cause.
type explanation struct{ transport.Explained }

// Usage reports whether the command line named what the cluster does not have, so that
// nothing was changed. pkg/cmd/process asks for it.
func (e *explanation) Usage() bool { return lacksNamespace(e.Cause) }

// explain says what was being done, why it failed and what to do next. The
// cause stays, for apierrors.
func (c *Client) explain(verb string, k kind, name string, err error) error {
	if err == nil {
		return nil
	}
	what := strings.TrimSpace(fmt.Sprintf("%s %s %s", verb, k.resource, name)) + " in " + c.scope()
	why := c.answer(right(verb, k), err)
	if why == "" {
		why = explainUnanswered(err)
	}
	if why == "" {
		return fmt.Errorf("%s: %w", what, err)
	}
	return &explanation{transport.Explained{Text: what + ": " + why, Cause: err}}
}

func (c *Client) scope() string {
	if c.namespace == "" {
		return "all namespaces"
	}
	return "namespace " + c.namespace
}

// permission is a right as a Role has it.
type permission struct{ verb, resource string }

// right is the permission that an operation needs.
func right(verb string, k kind) permission {
	if verb == readLog {
		return permission{"get", k.resource + "/log"}
	}
	return permission{verb, k.resource}
}

// readLog is the one operation that isn't called like its verb.
const readLog = "read the log of"

// answer explains what the API server says, "" where its own words do.
func (c *Client) answer(need permission, err error) string {
	switch {
	case apierrors.IsForbidden(err) && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return fmt.Sprintf("%s is being deleted: wait until it is gone, or choose another with --namespace", c.scope())
	case apierrors.IsForbidden(err) && lacksRight(err):
		return c.forbidden(need, err)
	case apierrors.IsUnauthorized(err):
		return "the API server does not accept your credentials, which may have expired: log in again, on GKE with `gcloud auth login`; elsewhere, get a new kubeconfig"
	case lacksNamespace(err):
		return c.noNamespace()
	case apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) && !transient(err):
		return fmt.Sprintf("not a Kubernetes API server response: %q: check the address (kubectl cluster-info) and HTTPS_PROXY if there is a proxy", unexpected(err))
	}
	return ""
}

func (c *Client) noNamespace() string {
	return fmt.Sprintf("there is no namespace %s: choose another with --namespace, or create it with kubectl create namespace %s", c.namespace, c.namespace)
}

// forbidden names the right that is missing, and the Role that has it.
func (c *Client) forbidden(need permission, err error) string {
	role := "kinetic-user"
	if need.resource == "configmaps" && need.verb != "create" {
		role = "kinetic-cleanup"
	}
	where, mend := "there", "ask an administrator for the Role "+role+", which is in manifests/rbac"
	if c.namespace == "" {
		where, mend = "in the whole cluster", "without --all-namespaces one namespace is enough"
	}
	whom, more := "", ": "+err.Error()
	if m := rbacRefusal().FindStringSubmatch(err.Error()); m != nil { // it says the same
		whom, more = " to "+m[1], m[2]
	}
	return fmt.Sprintf("forbidden%s: you need the verb %s on %s %s: %s%s", whom, need.verb, need.resource, where, mend, more)
}

// rbacRefusal is what an API server says of a right that someone hasn't got: whose it
// is, and what a cluster adds to it.
var rbacRefusal = pattern.Lazy(`^\S+(?: "[^"]*")? is forbidden: User "([^"]*)" cannot \w+ resource "[^"]*" in API group "[^"]*"(?: in the namespace "[^"]*"| at the cluster scope)?(: .+)?$`)

// lacksRight distinguishes a right that someone hasn't got from other refusals, such as
// a quota, which a Role doesn't fix.
func lacksRight(err error) bool {
	return strings.Contains(err.Error(), " cannot ")
}

// lacksNamespace reports whether an error is that the namespace does not exist, which
// the API server says before it does anything.
func lacksNamespace(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == "namespaces"
}

// unexpected is the beginning of an answer that was not Kubernetes' own.
func unexpected(err error) string {
	cause, _ := apierrors.StatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	text := strings.Join(strings.Fields(cause.Message), " ")
	const enough = 100
	if len(text) > enough {
		return text[:enough] + "…"
	}
	return text
}

// transient are failures after which the same call may succeed.
func transient(err error) bool {
	return passes(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err)
}

// refused reports whether a request failed for good: the API server said so, or will
// not be reached. A connection that broke passes.
func refused(err error) bool {
	var status apierrors.APIStatus
	return (errors.As(err, &status) || unanswered(err)) && !transient(err)
}
