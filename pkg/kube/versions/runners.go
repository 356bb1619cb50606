package versions

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
)

// Client is the version of this client, and the hashes of the runners that it brings: of jobs and of warm hosts.
type Client struct {
	Version string
	Runners []string
}

// Runner is a runner in a namespace. Every version of the client that ran a job there has
// brought its own.
type Runner struct {
	ConfigMap string `json:"configMap"`
	// Version is the version of the client that brought it, "" if that is not known.
	Version string `json:"version,omitempty"`
	// Relation compares it with the runner of this client.
	Relation Relation  `json:"relation"`
	Created  time.Time `json:"created"`
}

// Relation says how a runner compares with the one of this client.
type Relation string

// The relations. A runner of a commit between two releases can only be Different.
const (
	Current   Relation = "current"
	Older     Relation = "older"
	Newer     Relation = "newer"
	Different Relation = "different"
)

// runners lists the runners of the namespace, this client's first, then the newest.
func (r reader) runners(ctx context.Context) (func(*Inventory), error) {
	data, err := r.server.Read(ctx, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
		map[string]string{"labelSelector": "app.kubernetes.io/managed-by=kubectl-kinetic"}, "/api/v1/namespaces", r.namespace, "configmaps")
	if err != nil {
		return nil, err
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	found := []Runner{}
	for _, m := range list.Items {
		sha256, isRunner := strings.CutPrefix(m.Name, api.RunnerPrefix)
		if isRunner {
			by := m.Annotations[api.AnnotationRunnerVersion]
			found = append(found, Runner{m.Name, by, r.client.relation(by, sha256), m.CreationTimestamp.UTC()})
		}
	}
	slices.SortFunc(found, func(a, b Runner) int {
		if (a.Relation == Current) != (b.Relation == Current) {
			if a.Relation == Current {
				return -1
			}
			return 1
		}
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.ConfigMap, b.ConfigMap))
	})
	return func(i *Inventory) { i.Runners = found }, nil
}

func (c Client) relation(by, sha256 string) Relation {
	if slices.Contains(c.Runners, sha256) {
		return Current
	}
	theirs, err := utilversion.ParseSemantic(by)
	if err != nil {
		return Different
	}
	ours, err := utilversion.ParseSemantic(c.Version)
	if err != nil || !ordered(ours, c.Version, theirs, by) {
		return Different
	}
	switch {
	case theirs.LessThan(ours):
		return Older
	case ours.LessThan(theirs):
		return Newer
	}
	return Different
}

// ordered reports whether semantic versioning says which of two versions is older. It does
// not for two commits after the same release, nor for one of a repository without tags.
func ordered(a *utilversion.Version, aText string, b *utilversion.Version, bText string) bool {
	untagged := func(v *utilversion.Version) bool { return v.Major() == 0 && v.Minor() == 0 && v.Patch() == 0 }
	if untagged(a) || untagged(b) {
		return false
	}
	same := a.Major() == b.Major() && a.Minor() == b.Minor() && a.Patch() == b.Patch()
	return !same || version.IsRelease(aText) && version.IsRelease(bText)
}
