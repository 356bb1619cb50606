package kube

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// explain says what was being done, why it failed and what to do next. The
// cause stays, for apierrors.
func (c *Client) explain(verb string, k kind, name string, err error) error {
	if err == nil {
		return nil
	}
	what := strings.TrimSpace(fmt.Sprintf("%s %s %s", verb, k.resource, name))
	where := "namespace " + c.namespace
	if c.namespace == "" {
		where = "all namespaces"
	}
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s in %s: forbidden: ask for a Role with the verb %q on %q, such as manifests/rbac has: %w", what, where, verb, k.resource, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s in %s: the API server does not accept your credentials: log in again, on GKE with gcloud auth login: %w", what, where, err)
	case apierrors.IsNotFound(err) && aboutNamespace(err):
		return fmt.Errorf("%s in %s: there is no such namespace: kubectl create namespace %s makes it: %w", what, where, c.namespace, err)
	case unreachable(err):
		return fmt.Errorf("%s in %s: the API server can't be reached: check kubectl cluster-info, and the VPN if there is one: %w", what, where, err)
	}
	return fmt.Errorf("%s in %s: %w", what, where, err)
}

// aboutNamespace tells a missing namespace from another missing object.
func aboutNamespace(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == "namespaces"
}

// unreachable tells failures of the way to the server from its answers.
func unreachable(err error) bool {
	var network net.Error
	var address *url.Error
	var unknown x509.UnknownAuthorityError
	return errors.As(err, &unknown) || errors.As(err, &network) || errors.As(err, &address)
}

// transient are failures after which the same call may succeed.
func transient(err error) bool {
	return unreachable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err)
}
