// Package pathways knows where the images of the Pathways runtime are, and which versions there are.
package pathways

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

const (
	// Repository is where Google publishes the images.
	Repository = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways"
	// Within limits how long a registry may take to answer.
	Within = 5 * time.Second
	// prefix begins the tag for a version of JAX.
	prefix = "jax-"
)

// bareVersion matches a version of JAX without what its tag begins with.
var bareVersion = lazyregexp.New(`^[0-9]+\.[0-9]+(\.[0-9]+){0,2}$`)

// For returns the version of the runtime, which is the tag of its images, for a version of JAX.
func For(jax string) string { return prefix + jax }

// Version returns the version that a user means: a number is that of JAX.
func Version(text string) string {
	if bareVersion().MatchString(text) {
		return For(text)
	}
	return text
}

// Images returns the images of a version in a repository, "" for Google's: that of the resource manager and the workers,
// and that of the proxy.
func Images(repository, version string) (server, proxy string) {
	repository = cmp.Or(repository, Repository)
	return repository + "/server:" + version, repository + "/proxy_server:" + version
}

// Versions returns the versions of which a repository, "" for Google's, has both images, the oldest first: those for
// releases of JAX that jobs can use.
func Versions(ctx context.Context, registry *image.Client, repository string) ([]string, error) {
	server, proxy := Images(repository, "")
	servers, err := registry.Tags(ctx, strings.TrimSuffix(server, ":"))
	if err != nil {
		return nil, err
	}
	proxies, err := registry.Tags(ctx, strings.TrimSuffix(proxy, ":"))
	if err != nil {
		return nil, err
	}
	versions := slices.DeleteFunc(servers, func(tag string) bool {
		release, ok := strings.CutPrefix(tag, prefix)
		return !ok || !bareVersion().MatchString(release) || Older(release, api.PathwaysJAX) || !slices.Contains(proxies, tag)
	})
	slices.SortFunc(versions, func(a, b string) int {
		switch {
		case Older(release(a), release(b)):
			return -1
		case Older(release(b), release(a)):
			return 1
		}
		return 0
	})
	return versions, nil
}

// release returns the version of JAX that a version is for.
func release(version string) string { return strings.TrimPrefix(version, prefix) }

// Older reports whether a version of a package is older than another one.
func Older(version, than string) bool {
	v, err := requirement.ParseVersion(version)
	w, err2 := requirement.ParseVersion(than)
	return err == nil && err2 == nil && v.Compare(w) < 0
}

// MissingError says that an image of a version does not exist.
type MissingError struct {
	Version, Image string
	// Near are the nearest versions that exist, nil if none is known.
	Near []string
}

// Error says what to choose instead.
func (e *MissingError) Error() string {
	text := fmt.Sprintf("there is no Pathways runtime %s (%s): choose another version of jax, or name one with --pathways-version", e.Version, e.Image)
	if len(e.Near) > 0 {
		text += "; the nearest are " + strings.Join(e.Near, ", ")
	}
	return text
}

// Find returns both images of a version with their digests. It returns a MissingError if one of them does not exist, and
// another error if the registry did not say within Within.
func Find(ctx context.Context, registry *image.Client, repository, version string) (server, proxy string, err error) {
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	server, proxy = Images(repository, version)
	for _, ref := range []*string{&server, &proxy} {
		digest, err := registry.Digest(ctx, *ref, "amd64")
		if err != nil {
			return "", "", err
		}
		if digest == "" {
			missing := &MissingError{Version: version, Image: *ref}
			if versions, err := Versions(ctx, registry, repository); err == nil { // else it is told without
				missing.Near = nearest(versions, version)
			}
			return "", "", missing
		}
		*ref += "@" + digest
	}
	return server, proxy, nil
}

// nearest returns up to four of some versions, the oldest first: the two before a version and the two after it.
func nearest(versions []string, version string) []string {
	at := slices.IndexFunc(versions, func(v string) bool { return !Older(release(v), release(version)) })
	if at < 0 {
		at = len(versions)
	}
	return versions[max(0, at-2):min(len(versions), at+2)]
}
