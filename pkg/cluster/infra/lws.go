package infra

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/manifests/leaderworkerset"
)

// installed is an annotation of LeaderWorkerSet's namespace: the release that was applied as a
// whole. A manifest that was cut off has none.
const installed = "kubectl-kinetic.github.io/leaderworkerset"

const byOthers = "installed by someone else"

// LeaderWorkerSet installs the controller of jobs on several hosts.
type LeaderWorkerSet struct{ *Cluster }

// parsed reads the manifest once; it takes a tenth of a second.
var parsed = sync.OnceValues(func() ([]object, error) { return parse(leaderworkerset.YAML) })

// Get implements infra.Actor. A release that someone else installed is left alone.
func (l LeaderWorkerSet) Get(ctx context.Context) (State, error) {
	names := []object{
		named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "leaderworkersets.leaderworkerset.x-k8s.io"),
		named("v1", "Namespace", "", "lws-system"),
	}
	found, err := l.getAll(ctx, names)
	if err != nil {
		return State{}, err
	}
	definition, namespace := found[0], found[1]
	ours := namespace != nil && namespace.GetLabels()[managedBy] == manager
	switch {
	case definition == nil && !ours:
		return State{Detail: leaderworkerset.Version}, nil
	case !ours:
		return State{Exists: true, Detail: byOthers + l.version(ctx)}, nil
	}
	s := State{Exists: true, Detail: namespace.GetAnnotations()[installed]}
	switch {
	case s.Detail == "":
		s.Missing = []string{"what an interrupted installation has left out"}
	case s.Detail != leaderworkerset.Version:
		s.Differences = []Difference{{Setting: "release", Have: s.Detail, Want: leaderworkerset.Version}}
	}
	return s, nil
}

// version returns that of the controller, with what separates it; "" if it can't be read, which doesn't matter here.
func (l LeaderWorkerSet) version(ctx context.Context) string {
	found, err := l.get(ctx, named("apps/v1", "Deployment", "lws-system", "lws-controller-manager"))
	if err != nil || found == nil {
		return ""
	}
	containers, _, _ := unstructured.NestedSlice(found.Object, "spec", "template", "spec", "containers")
	for _, each := range containers {
		container, _ := each.(map[string]any)
		image, _ := container["image"].(string)
		image, _, _ = strings.Cut(image, "@")
		if _, tag, tagged := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":"); tagged && container["name"] == "manager" {
			return ", " + tag + "; `up` installs " + leaderworkerset.Version + " where there is none"
		}
	}
	return ""
}

// Ensure implements infra.Actor: it applies the manifest, and marks it as complete in the end. What
// someone else has installed meanwhile is left alone.
func (l LeaderWorkerSet) Ensure(ctx context.Context, have State) error {
	if !have.Exists {
		if now, err := l.Get(ctx); err != nil || strings.HasPrefix(now.Detail, byOthers) {
			return err
		}
	}
	objects, err := parsed()
	if err != nil {
		return err
	}
	for _, o := range objects {
		if o.GetKind() == "Namespace" {
			o = object{o.DeepCopy()}
			o.mark(map[string]string{managedBy: manager})
		}
		if err := l.apply(ctx, o); err != nil {
			return l.explain(err)
		}
	}
	// The namespace is the first object.
	last := object{objects[0].DeepCopy()}
	last.mark(map[string]string{managedBy: manager})
	last.SetAnnotations(map[string]string{installed: leaderworkerset.Version})
	return l.explain(l.apply(ctx, last))
}

func (l LeaderWorkerSet) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("installing LeaderWorkerSet %s: %w", leaderworkerset.Version, err)
}
