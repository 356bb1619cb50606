package infra

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

// Queue sets up a queue of Kueue, which must be installed: a flavor for all nodes, a ClusterQueue with
// a quota, and the LocalQueue of the namespace.
type Queue struct {
	*Cluster
	Namespace string
	Name      string
	// Quota is how much jobs may use together, by resource: nvidia.com/gpu: 16.
	Quota map[string]string
}

func (q Queue) objects(version schema.GroupVersion) []object {
	kueueAPI := version.String()
	flavor := named(kueueAPI, "ResourceFlavor", "", q.Name)
	var covered []any
	var quotas []any
	for _, name := range slices.Sorted(maps.Keys(q.Quota)) {
		covered = append(covered, name)
		quotas = append(quotas, map[string]any{"name": name, "nominalQuota": q.Quota[name]})
	}
	queue := named(kueueAPI, "ClusterQueue", "", q.Name)
	queue.Object["spec"] = map[string]any{
		"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": q.Namespace}},
		"resourceGroups": []any{map[string]any{
			"coveredResources": covered,
			"flavors":          []any{map[string]any{"name": q.Name, "resources": quotas}},
		}},
	}
	local := named(kueueAPI, "LocalQueue", q.Namespace, q.Name)
	local.Object["spec"] = map[string]any{"clusterQueue": q.Name}
	all := []object{flavor, queue, local}
	for _, o := range all {
		o.mark(map[string]string{managedBy: manager})
	}
	return all
}

// Get implements infra.Actor. A queue of that name is left as it is, whatever its quota.
func (q Queue) Get(ctx context.Context) (State, error) {
	version, err := q.version(ctx)
	switch {
	case err != nil:
		return State{}, err
	case version.Empty():
		return State{Detail: "Kueue is not installed: install it first with: " + kueue.Install}, nil
	}
	objects := q.objects(version)
	found, err := q.getAll(ctx, objects)
	if err != nil {
		return State{}, err
	}
	var s State
	for i, o := range objects {
		if found[i] == nil {
			s.Missing = append(s.Missing, o.String())
		}
	}
	if s.Exists = len(s.Missing) < len(objects); !s.Exists {
		s.Missing = nil
	}
	return s, nil
}

// version returns the version of Kueue's API in which the objects are written: the newer one where it is served. It
// is empty if Kueue is not installed.
func (q Queue) version(ctx context.Context) (schema.GroupVersion, error) {
	definition, err := q.get(ctx, named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "clusterqueues."+kueue.Version.Group))
	if err != nil || definition == nil {
		return schema.GroupVersion{}, err
	}
	var served []string
	versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	if err != nil {
		return schema.GroupVersion{}, fmt.Errorf("reading the versions of Kueue's API: %w", err)
	}
	for _, each := range versions {
		if v, ok := each.(map[string]any); ok && v["served"] == true {
			served = append(served, fmt.Sprint(v["name"]))
		}
	}
	for _, known := range []schema.GroupVersion{kueue.NewerVersion, kueue.Version} {
		if slices.Contains(served, known.Version) {
			return known, nil
		}
	}
	return schema.GroupVersion{}, fmt.Errorf("queue %s: the cluster's Kueue serves its API as %s, not %s or %s: try a newer kubectl kinetic",
		q.Name, strings.Join(served, " and "), kueue.Version.Version, kueue.NewerVersion.Version)
}

// Ensure implements infra.Actor.
func (q Queue) Ensure(ctx context.Context, _ State) error {
	version, err := q.version(ctx)
	switch {
	case err != nil:
		return err
	case version.Empty():
		return &transport.Explained{Of: api.KindUnstartable, Do: kueue.Install,
			Text: "creating the queue " + q.Name + ": Kueue is not installed: install it, then repeat this command: " + kueue.Install}
	}
	return q.applyAll(ctx, q.objects(version), false)
}
