package infra

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/manifests/rbac"
)

// Roles creates the Roles of the namespace, those of manifests/rbac.
type Roles struct {
	*Cluster
	Namespace string
}

// Get implements infra.Actor.
func (r Roles) Get(ctx context.Context) (State, error) {
	roles, err := namespaced(r.Namespace, "Role")
	if err != nil {
		return State{}, err
	}
	found, err := r.getAll(ctx, roles)
	if err != nil {
		return State{}, err
	}
	var s State
	for i, o := range roles {
		switch {
		case found[i] == nil:
			s.Missing = append(s.Missing, "Role "+o.GetName())
			continue
		case !sameRules(found[i], o.Unstructured):
			s.Differences = append(s.Differences, Difference{Setting: "Role " + o.GetName(), Have: "other rules", Want: "those of this version"})
		}
		s.Exists = true
	}
	if !s.Exists {
		s.Missing = nil
	}
	return s, nil
}

// sameRules compares the rules of two Roles as JSON has them.
func sameRules(a, b *unstructured.Unstructured) bool {
	var rules [2]any
	for i, o := range []*unstructured.Unstructured{a, b} {
		text, err := json.Marshal(o.Object["rules"])
		if err != nil || json.Unmarshal(text, &rules[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(rules[0], rules[1])
}

// Ensure implements infra.Actor. It leaves Roles alone that have other rules, unless these are to be
// changed.
func (r Roles) Ensure(ctx context.Context, have State) error {
	roles, err := namespaced(r.Namespace, "Role")
	if err != nil {
		return err
	}
	return r.applyAll(ctx, roles, len(have.Differences) > 0)
}

// RBAC returns the objects of a kind in manifests/rbac, as they are applied but for the namespace.
func RBAC[T any](kind string) ([]T, error) {
	objects, err := namespaced("", kind)
	all := make([]T, len(objects))
	for i, o := range objects {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, &all[i], true); err != nil {
			return nil, fmt.Errorf("reading %s in manifests/rbac: %w", o, err)
		}
	}
	return all, err
}

// kustomization is the part of manifests/rbac's kustomization that is applied here.
type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
	Labels     []struct {
		Pairs map[string]string `json:"pairs"`
	} `json:"labels"`
}

// namespaced returns the objects of a kind in manifests/rbac, for a namespace.
func namespaced(namespace, kind string) ([]object, error) {
	text, err := fs.ReadFile(rbac.FS, "kustomization.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading manifests/rbac: %w", err)
	}
	var k kustomization
	if err := yaml.UnmarshalStrict(text, &k); err != nil {
		return nil, fmt.Errorf("reading manifests/rbac/kustomization.yaml: %w", err)
	}
	var all bytes.Buffer
	for _, name := range k.Resources {
		text, err := fs.ReadFile(rbac.FS, name)
		if err != nil {
			return nil, fmt.Errorf("reading manifests/rbac: %w", err)
		}
		fmt.Fprintf(&all, "---\n%s\n", text)
	}
	objects, err := parse(all.Bytes())
	for _, o := range objects {
		o.SetNamespace(namespace)
		for _, l := range k.Labels {
			o.mark(l.Pairs)
		}
	}
	return slices.DeleteFunc(objects, func(o object) bool { return o.GetKind() != kind }), err
}
