package infra

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// object is an object to be applied, or the name of one.
type object struct{ *unstructured.Unstructured }

// String names the object for people: Deployment lws-controller-manager in namespace lws-system.
func (o object) String() string {
	text := strings.TrimSpace(o.GetKind() + " " + o.GetName())
	if o.GetNamespace() != "" {
		text += " in namespace " + o.GetNamespace()
	}
	return text
}

// kind is where the API server has the objects of a kind.
type kind struct {
	name       string
	resource   string
	namespaced bool
}

// kinds are the kinds that are applied, in the order in which they must exist.
var kinds = []kind{
	{"Namespace", "namespaces", false},
	{"CustomResourceDefinition", "customresourcedefinitions", false},
	{"ServiceAccount", "serviceaccounts", true},
	{"Role", "roles", true},
	{"ClusterRole", "clusterroles", false},
	{"RoleBinding", "rolebindings", true},
	{"ClusterRoleBinding", "clusterrolebindings", false},
	{"ConfigMap", "configmaps", true},
	{"Secret", "secrets", true},
	{"Service", "services", true},
	{"Deployment", "deployments", true},
	{"MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false},
	{"ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false},
	{"ResourceFlavor", "resourceflavors", false},
	{"ClusterQueue", "clusterqueues", false},
	{"LocalQueue", "localqueues", true},
	{"PersistentVolume", "persistentvolumes", false}, // only listed
}

// rank returns the place of an object's kind in the order, -1 if it isn't there.
func (o object) rank() int {
	return slices.IndexFunc(kinds, func(k kind) bool { return k.name == o.GetKind() })
}

func (o object) kind() kind { return kinds[o.rank()] }

func (o object) path() string {
	root := "/api"
	if o.GroupVersionKind().Group != "" {
		root = "/apis"
	}
	p := path.Join(root, o.GetAPIVersion())
	if o.kind().namespaced {
		p = path.Join(p, "namespaces", o.GetNamespace())
	}
	return path.Join(p, o.kind().resource, o.GetName())
}

func (o object) mark(labels map[string]string) {
	all := o.GetLabels()
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, labels)
	o.SetLabels(all)
}

// parse reads the objects of a manifest, in the order in which they must exist.
func parse(manifest []byte) ([]object, error) {
	var objects []object
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), len(manifest))
	for {
		o := object{&unstructured.Unstructured{}}
		err := decoder.Decode(&o.Object)
		switch {
		case errors.Is(err, io.EOF):
			slices.SortStableFunc(objects, func(a, b object) int { return cmp.Compare(a.rank(), b.rank()) })
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("reading a manifest: %w", err)
		case len(o.Object) == 0:
			continue
		case o.rank() < 0:
			return nil, fmt.Errorf("reading a manifest: unknown kind %s", o.GetKind())
		}
		objects = append(objects, o)
	}
}

// named returns an object with nothing but a name.
func named(apiVersion, kind, namespace, name string) object {
	o := object{&unstructured.Unstructured{Object: map[string]any{}}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}
