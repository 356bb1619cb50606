package image

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

const (
	// PathwaysRepository is where Google publishes the images.
	PathwaysRepository = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways"
	// PathwaysWithin limits how long a registry may take to answer.
	PathwaysWithin = 5 * time.Second
	// pathwaysPrefix begins the tag for a version of JAX.
	pathwaysPrefix = "jax-"
)

// bareVersion matches a version of JAX without what its tag begins with.
const bareVersion = `^[0-9]+\.[0-9]+(\.[0-9]+){0,2}$`

// PathwaysFor returns the version of the runtime, which is the tag of its images, for a version of JAX.
func PathwaysFor(jax string) string { return pathwaysPrefix + jax }

// PathwaysVersion returns the version that a user means: a number is that of JAX.
func PathwaysVersion(text string) string {
	if lazyregexp.Of(bareVersion).MatchString(text) {
		return PathwaysFor(text)
	}
	return text
}

// PathwaysImages returns the images of a version in a repository, "" for Google's: that of the resource manager and the workers,
// and that of the proxy.
func PathwaysImages(repository, version string) (server, proxy string) {
	repository = cmp.Or(repository, PathwaysRepository)
	return repository + "/server:" + version, repository + "/proxy_server:" + version
}

// PathwaysVersions returns the versions of which a repository, "" for Google's, has both images, the oldest first: those for
// releases of JAX that jobs can use.
func PathwaysVersions(ctx context.Context, registry *Client, repository string) ([]string, error) {
	server, proxy := PathwaysImages(repository, "")
	servers, err := registry.Tags(ctx, strings.TrimSuffix(server, ":"))
	if err != nil {
		return nil, err
	}
	proxies, err := registry.Tags(ctx, strings.TrimSuffix(proxy, ":"))
	if err != nil {
		return nil, err
	}
	versions := slices.DeleteFunc(servers, func(tag string) bool {
		release, ok := strings.CutPrefix(tag, pathwaysPrefix)
		return !ok || !lazyregexp.Of(bareVersion).MatchString(release) || OlderVersion(release, api.Contract.Pathways.JAX) || !slices.Contains(proxies, tag)
	})
	slices.SortFunc(versions, func(a, b string) int {
		order, _ := requirement.CompareVersions(releaseOfJAX(a), releaseOfJAX(b))
		return order
	})
	return versions, nil
}

// releaseOfJAX returns the version of JAX that a version is for.
func releaseOfJAX(version string) string { return strings.TrimPrefix(version, pathwaysPrefix) }

// OlderVersion reports whether a version of a package is older than another one.
func OlderVersion(version, than string) bool {
	order, err := requirement.CompareVersions(version, than)
	return err == nil && order < 0
}

// MissingPathwaysError says that an image of a version does not exist.
type MissingPathwaysError struct {
	Version, Image string
	// Near are the nearest versions that exist, nil if none is known.
	Near []string
}

// Error says what to choose instead.
func (e *MissingPathwaysError) Error() string {
	text := fmt.Sprintf("there is no Pathways runtime %s (%s): choose another version of jax, or name one with --pathways-version", e.Version, e.Image)
	if len(e.Near) > 0 {
		text += "; the nearest are " + strings.Join(e.Near, ", ")
	}
	return text
}

// FindPathways returns both images of a version with their digests. It returns a MissingPathwaysError if one of them does not exist, and
// another error if the registry did not say within PathwaysWithin.
func FindPathways(ctx context.Context, registry *Client, repository, version string) (server, proxy string, err error) {
	ctx, cancel := context.WithTimeout(ctx, PathwaysWithin)
	defer cancel()
	server, proxy = PathwaysImages(repository, version)
	for _, ref := range []*string{&server, &proxy} {
		digest, err := registry.Digest(ctx, *ref, "amd64")
		if err != nil {
			return "", "", err
		}
		if digest == "" {
			missing := &MissingPathwaysError{Version: version, Image: *ref}
			if versions, err := PathwaysVersions(ctx, registry, repository); err == nil { // else it is told without
				missing.Near = nearestVersions(versions, version)
			}
			return "", "", missing
		}
		*ref += "@" + digest
	}
	return server, proxy, nil
}

// nearestVersions returns up to four of some versions, the oldest first: the two before a version and the two after it.
func nearestVersions(versions []string, version string) []string {
	at := slices.IndexFunc(versions, func(v string) bool { return !OlderVersion(releaseOfJAX(v), releaseOfJAX(version)) })
	if at < 0 {
		at = len(versions)
	}
	return versions[max(0, at-2):min(len(versions), at+2)]
}
