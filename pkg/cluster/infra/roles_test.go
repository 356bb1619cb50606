package infra

import (
	"reflect"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// What is applied is what `kubectl apply -k manifests/rbac -n NAMESPACE` applies.
func TestObjectsAreThoseOfKustomize(t *testing.T) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../../manifests/rbac")
	if err != nil {
		t.Fatal(err)
	}
	var ours []object
	for _, kind := range []string{"Role", "ServiceAccount"} {
		objects, err := namespaced("ml", kind)
		if err != nil {
			t.Fatal(err)
		}
		ours = append(ours, objects...)
	}
	byName := map[string]map[string]any{}
	for _, o := range ours {
		byName[o.GetKind()+o.GetName()] = o.Object
	}
	if len(ours) != built.Size() {
		t.Errorf("got %d objects, want %d", len(ours), built.Size())
	}
	for _, r := range built.Resources() {
		if err := r.SetNamespace("ml"); err != nil {
			t.Fatal(err)
		}
		want, err := r.Map()
		if err != nil {
			t.Fatal(err)
		}
		if got := byName[r.GetKind()+r.GetName()]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s %s:\n got %v\nwant %v", r.GetKind(), r.GetName(), got, want)
		}
	}
}
