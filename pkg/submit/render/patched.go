package render

import (
	"fmt"
	"path"
	"reflect"
	"strings"

	goyaml "go.yaml.in/yaml/v2"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"
)

// patchedJob builds a tree that is only the base's Job and patches for it, as kustomize would. It returns false for any other
// tree. Most jobs are such a tree, and kustomize takes several times as long: it reads and writes all of the Job for each
// patch, and merges its own configuration for each component.
func (t tree) patchedJob() (Rendered, bool, error) {
	patches, ok, err := t.jobPatches()
	if err != nil || !ok {
		return Rendered{}, false, err
	}
	content, err := yaml.YAMLToJSON(t[jobFile])
	for i := 0; err == nil && i < len(patches); i++ {
		content, err = patched(content, patches[i])
	}
	if err != nil {
		return Rendered{}, false, err
	}
	var job unstructured.Unstructured
	if err := job.UnmarshalJSON(content); err != nil {
		return Rendered{}, false, err
	}
	text, err := goyaml.Marshal(job.Object)
	return Rendered{objects: []*unstructured.Unstructured{&job}, texts: [][]byte{text}}, true, err
}

// jobPatches returns the patches of all components with their texts, in order. It returns false if the tree has more than
// the base and patches for a Job.
func (t tree) jobPatches() (all []types.Patch, ok bool, err error) {
	whole, err := parseKustomization(t[kustomizationFile])
	if err != nil {
		return nil, false, err
	}
	dirs := whole.Components
	whole.Components, whole.SortOptions = nil, nil // there is one object
	if !isOnly(whole, types.Kustomization{Resources: []string{baseDir}}) {
		return nil, false, nil
	}
	for _, dir := range dirs {
		c, err := parseKustomization(t[path.Join(dir, kustomizationFile)])
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", dir, err)
		}
		patches := c.Patches
		c.Patches = nil
		if !isOnly(c, types.Kustomization{}) {
			return nil, false, nil
		}
		for _, p := range patches {
			if p.Target == nil || *p.Target != (types.Selector{ResId: resid.ResId{Gvk: jobKind}, LabelSelector: p.Target.LabelSelector}) {
				return nil, false, nil
			}
			if p.Path != "" {
				p.Patch = string(t[path.Join(dir, p.Path)])
			}
			all = append(all, p)
		}
	}
	return all, true, nil
}

// isOnly reports whether a kustomization has nothing but its type and these fields.
func isOnly(k, fields types.Kustomization) bool {
	fields.TypeMeta = k.TypeMeta
	return reflect.DeepEqual(k, fields)
}

// patched applies a patch to a Job, as JSON. A Job without the labels that the patch selects stays as it is.
func patched(job []byte, p types.Patch) ([]byte, error) {
	if p.Target.LabelSelector != "" {
		selector, err := labels.Parse(p.Target.LabelSelector)
		if err != nil {
			return nil, err
		}
		var o unstructured.Unstructured
		if err := o.UnmarshalJSON(job); err != nil || !selector.Matches(labels.Set(o.GetLabels())) {
			return job, err
		}
	}
	steps := []byte(p.Patch)
	if !strings.HasPrefix(p.Patch, "[") {
		var err error
		if steps, err = yaml.YAMLToJSON(steps); err != nil {
			return nil, err
		}
	}
	decoded, err := jsonpatch.DecodePatch(steps)
	if err != nil {
		return nil, err
	}
	return decoded.Apply(job)
}
