package kube

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubectl-kinetic/kinetic/pkg/pattern"
)

// explanation is an error in our words that is still the one it was.
type explanation struct {
	text  string
	cause error
}

func (e *explanation) Error() string { return e.text }
func (e *explanation) Unwrap() error { return e.cause }

// explain says what was being done, why it failed and what to do next. The
// cause stays, for apierrors.
func (c *Client) explain(verb string, k kind, name string, err error) error {
	if err == nil {
		return nil
	}
	what := strings.TrimSpace(fmt.Sprintf("%s %s %s", verb, k.resource, name)) + " in " + c.scope()
	why := c.answer(right(verb, k), err)
	if why == "" {
		why = noAnswer(err)
	}
	if why == "" {
		return fmt.Errorf("%s: %w", what, err)
	}
	return &explanation{what + ": " + why, err}
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
		return "the API server does not accept your credentials, which may have expired: log in again, on GKE with `gcloud auth login`; elsewhere get the kubeconfig again from where it came"
	case NoNamespace(err):
		return c.noNamespace()
	case apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) && !transient(err):
		return fmt.Sprintf("this is no answer of an API server: %q: check the address, which kubectl cluster-info shows, and HTTPS_PROXY if there is a proxy", unexpected(err))
	}
	return ""
}

func (c *Client) noNamespace() string {
	return fmt.Sprintf("there is no namespace %s: choose another with --namespace, or make it with kubectl create namespace %s", c.namespace, c.namespace)
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

// rbacRefusal is what an API server says of a right that somebody hasn't got: whose it
// is, and what a cluster adds to it.
var rbacRefusal = pattern.Lazy(`^\S+(?: "[^"]*")? is forbidden: User "([^"]*)" cannot \w+ resource "[^"]*" in API group "[^"]*"(?: in the namespace "[^"]*"| at the cluster scope)?(: .+)?$`)

// lacksRight tells a right that somebody hasn't got from other refusals, such as
// a quota, which a Role doesn't mend.
func lacksRight(err error) bool {
	return strings.Contains(err.Error(), " cannot ")
}

// NoNamespace tells whether an error is that the namespace does not exist, of which
// the API server says so before it does anything.
func NoNamespace(err error) bool {
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

// noAnswer explains why a request did not get as far as an answer, "" where the
// error is of another kind.
func noAnswer(err error) string {
	var request *url.Error
	if !errors.As(err, &request) {
		return ""
	}
	host := request.URL
	if u, parseErr := url.Parse(request.URL); parseErr == nil {
		host = u.Host
	}
	if why := credentials(request.Err); why != "" {
		return why
	}
	if why := certificate(host, request.Err); why != "" {
		return why
	}
	return noWay(host, request.Err)
}

// credentials explains a program that was to make them and failed. What it says
// itself goes to standard error.
func credentials(err error) string {
	text, found := strings.CutPrefix(err.Error(), "getting credentials: ")
	switch {
	case strings.Contains(text, "gke-gcloud-auth-plugin"):
		return fmt.Sprintf("there are no credentials for the cluster: %s: log in again with `gcloud auth login`", text)
	case found:
		return fmt.Sprintf("there are no credentials for the cluster: %s: log in again; the program is the one that users[].user.exec of the kubeconfig names", text)
	case strings.Contains(text, "id-token") || strings.Contains(text, "refresh token"):
		return fmt.Sprintf("there are no credentials for the cluster: %s: log in again with your identity provider", text)
	}
	return ""
}

// certificate explains a connection whose other end could not show who it is.
func certificate(host string, err error) string {
	var clock *clockError
	var unknown x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &clock):
		return fmt.Sprintf("the certificate of the API server at %s is %s", host, clock.validity())
	case errors.As(err, &unknown):
		return fmt.Sprintf("the certificate of the API server at %s was not issued by the authority that the kubeconfig names: another cluster has this address now, or something between intercepts the connection: get the context again, on GKE with `gcloud container clusters get-credentials`", host)
	case errors.As(err, &hostname):
		return fmt.Sprintf("the API server at %s shows the certificate of another host: %v: correct the address in the kubeconfig, or name the host with --tls-server-name", host, hostname)
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Sprintf("what listens at %s does not speak TLS: correct the address in the kubeconfig, or HTTPS_PROXY if there is a proxy", host)
	}
	return ""
}

// validity says when the certificate is valid and what the clocks show.
func (e *clockError) validity() string {
	format := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	text := fmt.Sprintf("valid from %s to %s, and this machine's clock shows %s", format(e.cert.NotBefore), format(e.cert.NotAfter), format(e.here))
	off := e.here.Sub(e.there).Round(time.Minute)
	switch {
	case e.there.IsZero():
		return text + ": set the clock, or have the certificate renewed"
	case off.Abs() < time.Minute:
		return text + ", as the server's does: have the certificate renewed"
	case off > 0:
		return fmt.Sprintf("%s, which is %s ahead of the server's: set the clock", text, off)
	default:
		return fmt.Sprintf("%s, which is %s behind the server's: set the clock", text, -off)
	}
}

// noWay explains a connection that could not be made, or broke.
func noWay(host string, err error) string {
	var dns *net.DNSError
	var network net.Error
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("the API server can't be reached: no host has the name %s: was the cluster deleted? kubectl config get-contexts shows others", dns.Name)
	case errors.As(err, &dns):
		return fmt.Sprintf("the API server can't be reached: the name %s can't be looked up: check the network: %v", dns.Name, dns)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("the API server can't be reached: nothing listens at %s: is the cluster running? kubectl config view --minify shows where its address comes from", host)
	case errors.As(err, &network) && network.Timeout():
		return fmt.Sprintf("the API server can't be reached: %s does not answer: check the VPN if there is one, and that this machine is among the cluster's authorized networks: %v", host, err)
	}
	return fmt.Sprintf("the API server at %s can't be reached: check the network, the VPN and HTTPS_PROXY if there is one: %v", host, err)
}

// transient are failures after which the same call may succeed.
func transient(err error) bool {
	return brief(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err)
}

// brief are failures of the way to a server that will be back.
func brief(err error) bool {
	var request *url.Error
	if !errors.As(err, &request) {
		return broken(err)
	}
	var final *unreachableError
	return !errors.As(err, &final) && credentials(request.Err) == "" && certificate("", request.Err) == ""
}

// broken reports whether a connection broke while an answer was read.
func broken(err error) bool {
	var network net.Error
	var stream http2.StreamError
	return errors.As(err, &network) || errors.As(err, &stream) || errors.Is(err, io.ErrUnexpectedEOF) ||
		utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err)
}

// refused reports whether a request failed for good: the API server said so, or will
// not be reached. A connection that broke passes.
func refused(err error) bool {
	var status apierrors.APIStatus
	return (errors.As(err, &status) || unanswered(err)) && !transient(err)
}

// unanswered reports whether a request did not get as far as an answer.
func unanswered(err error) bool {
	var request *url.Error
	return errors.As(err, &request)
}
