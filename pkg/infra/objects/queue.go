package objects

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/kueue"
	"github.com/kubectl-kinetic/kinetic/pkg/transport"
)

// Queue sets up a queue of Kueue, which must be installed: a flavor for all nodes, a ClusterQueue with
// a quota, and the LocalQueue of the namespace.
type Queue struct {
	Cluster   *Cluster
	Namespace string
	Name      string
	// Quota is how much jobs may use together, by resource: nvidia.com/gpu: 16.
	Quota map[string]string
}

const kueueAPI = "kueue.x-k8s.io/v1beta1"

func (q Queue) objects() []object {
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
func (q Queue) Get(ctx context.Context) (infra.State, error) {
	objects := q.objects()
	found, err := q.Cluster.getAll(ctx, objects)
	if err != nil {
		return infra.State{}, err
	}
	var s infra.State
	for i, o := range objects {
		if found[i] == nil {
			s.Missing = append(s.Missing, o.String())
		}
	}
	if s.Exists = len(s.Missing) < len(objects); s.Exists {
		return s, nil
	}
	s.Missing = nil
	installed, err := q.installed(ctx)
	if err == nil && !installed {
		s.Detail = "Kueue is not installed: install it first with: " + kueue.Install
	}
	return s, err
}

// installed reports whether the cluster has Kueue.
func (q Queue) installed(ctx context.Context) (bool, error) {
	definition, err := q.Cluster.get(ctx, named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "clusterqueues.kueue.x-k8s.io"))
	return definition != nil, err
}

// Ensure implements infra.Actor.
func (q Queue) Ensure(ctx context.Context, _ infra.State) error {
	installed, err := q.installed(ctx)
	if err != nil {
		return err
	}
	if !installed {
		return &transport.Explained{Of: api.KindUnstartable, Do: kueue.Install,
			Text: "creating the queue " + q.Name + ": Kueue is not installed: install it, then repeat this command: " + kueue.Install}
	}
	objects := q.objects()
	found, err := q.Cluster.getAll(ctx, objects)
	if err != nil {
		return err
	}
	return q.applyMissing(ctx, objects, found)
}

func (q Queue) applyMissing(ctx context.Context, objects []object, found []*unstructured.Unstructured) error {
	for i, o := range objects {
		if found[i] != nil {
			continue
		}
		if err := q.Cluster.apply(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// Delete implements infra.Actor.
func (q Queue) Delete(ctx context.Context) error {
	objects := q.objects()
	for i := len(objects) - 1; i >= 0; i-- {
		if err := q.Cluster.delete(ctx, objects[i]); err != nil {
			return err
		}
	}
	return nil
}
