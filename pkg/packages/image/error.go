package image

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/principal"
)

// RegistryError says that a registry did not do what was asked of it.
type RegistryError struct {
	Doing      string // "send a layer of six-1.16.0-py3-none-any.whl to"
	Repository string // "europe-west4-docker.pkg.dev/acme/kn-research/env"
	Err        error
}

// Error says what was being done, to which repository, why it failed, and what to do.
func (e *RegistryError) Error() string {
	return fmt.Sprintf("%s %s: %v%s", e.Doing, e.Repository, e.Err, e.advice())
}

// Reading reports whether it failed to read from a place where images are not sent to.
func (e *RegistryError) Reading() bool { return strings.HasPrefix(e.Doing, readBase) }

// readBase begins what was being done when a base image could not be read.
const readBase = "reading the base image "

// Kind implements what pkg/cmd/cli asks an error for.
func (e *RegistryError) Kind() api.ErrorKind {
	switch {
	case e.Denied():
		return api.KindForbidden
	case e.Status() == 0:
		return api.KindUnreachable
	}
	return ""
}

// Unwrap returns the reason.
func (e *RegistryError) Unwrap() error { return e.Err }

// Looking reports whether it failed to look for an image, which is the first request: it may lack a login.
func (e *RegistryError) Looking() bool { return strings.HasPrefix(e.Doing, lookImage) }

// lookImage begins what was being done when an image could not be looked for.
const lookImage = "looking for the image "

// Status returns the HTTP status of the answer, 0 if there was none.
func (e *RegistryError) Status() int { return status(e.Err) }

// Denied reports whether the user may not do this, or the repository does not exist. Trying
// again does not help.
func (e *RegistryError) Denied() bool {
	switch e.Status() {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		return true
	}
	return false
}

// Busy reports whether the registry could not answer, or did not want to yet.
func (e *RegistryError) Busy() bool {
	return e.Status() == http.StatusTooManyRequests || e.Status() >= http.StatusInternalServerError
}

// advice says what to do, after a semicolon.
func (e *RegistryError) advice() string {
	host, _, _ := strings.Cut(e.Repository, "/")
	switch code := e.Status(); {
	case code == http.StatusUnauthorized && google(host):
		_, advice := principal.Remedy(os.Getenv)
		return "; " + advice
	case code == http.StatusUnauthorized:
		return fmt.Sprintf("; sign in with `docker login %s`", host)
	case code == http.StatusForbidden && google(host):
		return "; the account needs roles/artifactregistry.writer to send, and roles/artifactregistry.reader to read"
	case code == http.StatusForbidden:
		return "; ask its owner for access, or name another repository"
	case code == http.StatusNotFound:
		return "; create the repository first, or name another one"
	case code == http.StatusTooManyRequests && e.Reading():
		return fmt.Sprintf("; try again later, or sign in with `docker login %s`, which allows more", host)
	case e.Busy() && e.Reading():
		return "; try again later"
	case e.Busy():
		return "; try again later: what was sent stays there"
	case code == 0:
		return "; check the name and the network"
	}
	return ""
}

// failed explains an error of a registry. The end of the context explains itself.
func failed(ctx context.Context, doing string, repo name.Repository, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var ours *sourceError
	if errors.As(err, &ours) {
		return ours.err // the registry has only seen the end of what could not be made
	}
	return &RegistryError{Doing: doing, Repository: repo.Name(), Err: err}
}

func status(err error) int {
	var answer *transport.Error
	if errors.As(err, &answer) {
		return answer.StatusCode
	}
	return 0
}

// unreachable reports whether a request got no answer.
func unreachable(err error) bool {
	var request *url.Error
	return errors.As(err, &request)
}

// missing reports whether a registry has no such tag. A repository that does not exist yet
// has none either.
func missing(err error) bool { return status(err) == http.StatusNotFound }

// lost reports whether a registry lacks a layer that a manifest refers to.
func lost(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && slices.ContainsFunc(answer.Errors, func(d transport.Diagnostic) bool {
		return d.Code == transport.ManifestBlobUnknownErrorCode || d.Code == transport.BlobUnknownErrorCode
	})
}

// A sourceError says that this machine could not make what it was sending.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }

func (e *sourceError) Unwrap() error { return e.err }
