package apiserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// Request is what the API server was asked for, in the terms of a Role.
type Request struct {
	Verb, Resource string
	// Namespace is empty for all namespaces.
	Namespace string
	// Cluster means that nothing less than the whole cluster is enough.
	Cluster bool
}

// Scope returns the request's namespace as messages name it.
func (r Request) Scope() string {
	switch {
	case r.Cluster:
		return "the whole cluster"
	case r.Namespace == "":
		return "all namespaces"
	}
	return "namespace " + r.Namespace
}

// Explain returns an error that says what was being done, why it failed and what to do
// next. It wraps err, for apierrors.
func (r Request) Explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	doing += " in " + r.Scope()
	why := r.why(err)
	if why == "" {
		return fmt.Errorf("%s: %w", doing, err)
	}
	kind, next := r.advice(err)
	text := doing + ": " + why
	if lacksNamespace(err) {
		text = why // whatever was being done: it names what is wrong, and where
	}
	return &explanation{transport.Explained{Text: text, Cause: err, Of: kind, Do: next}}
}

// advice returns the kind of an error that why explains, and what to do if that is one thing.
func (r Request) advice(err error) (api.ErrorKind, string) {
	var request *url.Error
	switch {
	case LacksRight(err) && r.Cluster:
		return api.KindForbidden, fmt.Sprintf("ask an administrator for a ClusterRole with the verb %s on %s", r.Verb, r.Resource)
	case LacksRight(err):
		return api.KindForbidden, "ask an administrator for the Role " + r.role() + ", which is in manifests/rbac"
	case apierrors.IsUnauthorized(err):
		return api.KindForbidden, "log in again"
	case lacksNamespace(err):
		return api.KindNotFound, "kubectl create namespace " + r.Namespace
	case errors.As(err, &request) && credentials(request.Err) != "":
		return api.KindForbidden, "log in again"
	case request != nil, apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return api.KindUnreachable, ""
	}
	return "", ""
}

func (r Request) role() string {
	switch {
	case r.Resource == "configmaps" && r.Verb != "create":
		return "kinetic-cleanup"
	case r.Resource == "pods/exec":
		return "kinetic-shell"
	}
	return "kinetic-user"
}

// why explains why a request failed, "" if the error's own words are enough.
func (r Request) why(err error) string { return cmp.Or(r.answered(err), explainUnanswered(err)) }

// Reason says why a request failed, in one line for a list of what was asked for: it neither
// repeats the request nor names a Role. within is how long an answer could take.
func (r Request) Reason(err error, within time.Duration) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer within " + within.String()
	case LacksRight(err):
		return fmt.Sprintf("forbidden: you need the verb %s on %s", r.Verb, r.Resource)
	}
	return cmp.Or(r.why(err), err.Error())
}

// explanation is an error in our words that wraps its cause.
type explanation struct{ transport.Explained }

// Usage reports whether the command line named something that the cluster does not have, so
// that nothing was changed. pkg/cmd/cli uses it.
func (e *explanation) Usage() bool { return lacksNamespace(e.Cause) }

// answered explains an answer of the API server, "" if the server's own words are enough.
func (r Request) answered(err error) string {
	switch {
	case apierrors.IsForbidden(err) && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return fmt.Sprintf("%s is being deleted: wait until it is gone, or choose another with --namespace", r.Scope())
	case LacksRight(err):
		return r.forbidden(err)
	case apierrors.IsUnauthorized(err):
		return "the API server does not accept your credentials, which may have expired: " +
			"log in again, on GKE with `gcloud auth login`; elsewhere, get a new kubeconfig"
	case lacksNamespace(err):
		return fmt.Sprintf("there is no namespace %[1]s: choose another with --namespace, or create it with kubectl create namespace %[1]s "+
			"and kubectl apply -k manifests/rbac -n %[1]s", r.Namespace)
	case apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) && !Transient(err):
		return fmt.Sprintf("not a Kubernetes API server response: %q: "+
			"check the address (kubectl cluster-info) and HTTPS_PROXY if there is a proxy", unexpected(err))
	}
	return ""
}

func (r Request) forbidden(err error) string {
	where, advice := "there", "ask an administrator for the Role "+r.role()+", which is in manifests/rbac (`kubectl kinetic doctor` lists all missing rights)"
	switch {
	case r.Cluster:
		advice = "ask an administrator for a ClusterRole with it"
	case r.Namespace == "":
		where, advice = "in the whole cluster", "omit --all-namespaces to use a single namespace"
	}
	to, more := "", ": "+err.Error()
	if m := lazyregexp.Of(rbacRefusal).FindStringSubmatch(err.Error()); m != nil { // it only repeats our words
		to, more = " to "+m[1], m[2]
	}
	return fmt.Sprintf("forbidden%s: you need the verb %s on %s %s: %s%s", to, r.Verb, r.Resource, where, advice, more)
}

// rbacRefusal matches how an API server reports a missing right: who lacks it, and what a
// cluster adds.
const rbacRefusal = `^\S+(?: "[^"]*")? is forbidden: User "([^"]*)" cannot \w+ resource "[^"]*" in API group "[^"]*"(?: in the namespace "[^"]*"| at the cluster scope)?(: .+)?$`

// LacksRight reports whether an API server says that the user lacks a right. A Role does not
// help against other refusals, such as for a quota or by a webhook.
func LacksRight(err error) bool {
	var status apierrors.APIStatus // err may be in our words
	return apierrors.IsForbidden(err) && errors.As(err, &status) && lazyregexp.Of(lackedRight).MatchString(status.Status().Message)
}

// lackedRight is how API servers, those of GKE too, say who lacks a right.
const lackedRight = `User "[^"]*" cannot `

// lacksNamespace reports whether the error is that the namespace does not exist. The API
// server checks that before it does anything.
func lacksNamespace(err error) bool {
	return apierrors.IsNotFound(err) && kindIn(err) == "namespaces"
}

// kindIn returns the resource that an answer of the API server is about, "" if that is not known.
func kindIn(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return ""
	}
	return status.Status().Details.Kind
}

// unexpected returns the beginning of an answer that is not from Kubernetes.
func unexpected(err error) string {
	cause, _ := apierrors.StatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	text := strings.Join(strings.Fields(cause.Message), " ")
	const enough = 100
	if len(text) > enough {
		return text[:enough] + "…"
	}
	return text
}

// Transient reports whether the same call may succeed later. A quota that others use at the same time is a
// conflict, although nobody has changed the object itself.
func Transient(err error) bool {
	return passes(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) || apierrors.IsConflict(err) && kindIn(err) == "resourcequotas"
}

// Refused reports whether a request failed for good: the API server refused it, or can't be
// reached. A broken connection is not final.
func Refused(err error) bool {
	return (errors.As(err, new(apierrors.APIStatus)) || Unanswered(err)) && !Transient(err)
}

// Unanswered reports whether a request got no answer.
func Unanswered(err error) bool { return errors.As(err, new(*url.Error)) }

// explainUnanswered returns why a request got no answer, "" for other errors.
func explainUnanswered(err error) string {
	request, ok := errors.AsType[*url.Error](err)
	if !ok {
		return ""
	}
	if why := credentials(request.Err); why != "" {
		return why
	}
	return server.Explain(err)
}

// credentials explains the failure of a program that gets credentials, "" for other errors.
// The program's own output goes to standard error.
func credentials(err error) string {
	text, found := strings.CutPrefix(err.Error(), "getting credentials: ")
	switch {
	case strings.Contains(text, "gke-gcloud-auth-plugin"):
		return fmt.Sprintf("there are no credentials for the cluster: %s: log in again with `gcloud auth login`", text)
	case found:
		return fmt.Sprintf("there are no credentials for the cluster: %s: log in again "+
			"with the program in users[].user.exec of the kubeconfig", text)
	case strings.Contains(text, "id-token") || strings.Contains(text, "refresh token"):
		return fmt.Sprintf("there are no credentials for the cluster: %s: log in again with your identity provider", text)
	}
	return ""
}

// passes reports whether an error is a temporary failure of the way to a server.
func passes(err error) bool {
	request, ok := errors.AsType[*url.Error](err)
	if !ok {
		return broken(err)
	}
	return !errors.As(err, new(*transport.UnreachableError)) && !transport.Untrusted(request.Err) && credentials(request.Err) == ""
}

func broken(err error) bool {
	return errors.As(err, new(net.Error)) || errors.As(err, new(http2.StreamError)) || errors.Is(err, io.ErrUnexpectedEOF) ||
		utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err)
}
