package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	goyaml "go.yaml.in/yaml/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// Rendered is the set of objects that a job applies.
type Rendered struct {
	objects []*unstructured.Unstructured
	texts   [][]byte // their YAML
}

// Objects renders a job. The overlay, if any, is applied last; an error names the part of
// it that has no effect, or what it broke. All errors are errors in the input.
func Objects(s api.Spec, o Overlay) (Rendered, error) {
	r, _, err := render(s, o, theRunner(s), false)
	return r, err
}

// Place returns a hash of what the jobs at a place have in common, as 64 hexadecimal digits. Without an overlay, it hashes what
// would be merged and the sources of the runner, which takes less time.
func Place(s api.Spec, o Overlay) (string, error) {
	if !o.empty() {
		r, err := Objects(s, o)
		if err != nil {
			return "", err
		}
		return tree{"": r.YAML()}.sha256(), nil
	}
	if err := check(s); err != nil {
		return "", err
	}
	files, err := generate(s, o, program{sha256: runner.SourcesSHA256()}, false)
	return files.sha256(), err
}

// Files returns the self-contained kustomization behind Objects, by slash-separated path:
// `kubectl kustomize` on it prints Rendered.YAML. It fails when Objects fails.
func Files(s api.Spec, o Overlay) (map[string][]byte, error) {
	_, files, err := render(s, o, theRunner(s), true)
	return files, err
}

func render(s api.Spec, o Overlay, p program, written bool) (Rendered, tree, error) {
	if err := check(s); err != nil {
		return Rendered{}, nil, err
	}
	if err := o.refuse(s); err != nil {
		return Rendered{}, nil, fmt.Errorf("overlay %s: %w", o.dir, err)
	}
	if o.empty() && !written {
		r, err := buildAlone(s, p)
		return r, nil, err
	}
	files, err := generate(s, o, p, true)
	if err != nil {
		return Rendered{}, nil, err
	}
	r, err := build(files)
	if err != nil {
		if !o.empty() {
			return Rendered{}, nil, fmt.Errorf("building job %s with overlay %s: %w", s.ID, o.dir, inPlainWords(err))
		}
		return Rendered{}, nil, fmt.Errorf("building job %s: %w", s.ID, err)
	}
	if o.empty() {
		return r, files, nil
	}
	if err := o.verify(s, p, files, r); err != nil {
		return Rendered{}, nil, fmt.Errorf("overlay %s: %w", o.dir, err)
	}
	changed, err := files.followGrace(s, r)
	if err != nil {
		return Rendered{}, nil, fmt.Errorf("overlay %s: %w", o.dir, err)
	}
	if !changed {
		return r, files, nil
	}
	r, err = build(files)
	return r, files, err
}

// buildAlone builds a job without an overlay. It adds the runner's ConfigMap, which printOrder puts last, itself: kustomize would
// read and write the whole runner several times.
func buildAlone(s api.Spec, p program) (Rendered, error) {
	files, err := generate(s, Overlay{}, p, false)
	if err != nil {
		return Rendered{}, err
	}
	r, ok, err := files.patchedJob()
	if err == nil && !ok {
		r, err = build(files)
	}
	if err != nil {
		return Rendered{}, fmt.Errorf("building job %s: %w", s.ID, err)
	}
	object, text, err := p.configMap(s)
	if err != nil {
		return Rendered{}, err
	}
	r.objects, r.texts = append(r.objects, object), append(r.texts, text)
	return r, nil
}

// root is the directory of the tree in memory; kustomize prints it in its errors.
const root = "/kinetic"

func build(files tree) (Rendered, error) {
	memory := filesys.MakeFsInMemory()
	for name, content := range files {
		if err := memory.WriteFile(root+"/"+name, content); err != nil {
			return Rendered{}, err
		}
	}
	resources, err := kustomize(memory, root)
	if err != nil {
		return Rendered{}, err
	}
	return newRendered(resources)
}

func kustomize(system filesys.FileSystem, dir string) (resmap.ResMap, error) {
	return krusty.MakeKustomizer(&krusty.Options{
		Reorder:          krusty.ReorderOptionUnspecified, // set by the kustomization
		LoadRestrictions: types.LoadRestrictionsRootOnly,
		PluginConfig:     types.DisabledPluginConfig(),
	}).Run(system, dir)
}

func newRendered(resources resmap.ResMap) (Rendered, error) {
	var r Rendered
	for _, resource := range resources.Resources() {
		object, text, err := write(resource)
		if err != nil {
			return Rendered{}, fmt.Errorf("%s: %w", resource.CurId(), err)
		}
		r.objects, r.texts = append(r.objects, object), append(r.texts, text)
	}
	return r, nil
}

// write makes an object and its YAML. kustomize goes through JSON, which it parses and
// writes three times: with the runner in a ConfigMap, that is a quarter of the time of a
// dry-run. JSON is only needed for values that JSON and YAML spell differently.
func write(resource *resource.Resource) (*unstructured.Unstructured, []byte, error) {
	content, err := resource.Map()
	if err != nil {
		return nil, nil, err
	}
	if content, ok := plain(content); ok {
		object := &unstructured.Unstructured{Object: content.(map[string]any)}
		text, err := goyaml.Marshal(object.Object)
		return object, text, err
	}
	data, err := resource.MarshalJSON()
	if err != nil {
		return nil, nil, err
	}
	text, err := yaml.JSONToYAML(data)
	if err != nil {
		return nil, nil, err
	}
	var object unstructured.Unstructured
	return &object, text, object.UnmarshalJSON(data)
}

// plain gives a value, in place, the types that Kubernetes' own code expects. It reports
// false if there are values other than strings, integers and booleans.
func plain(v any) (_ any, ok bool) {
	switch v := v.(type) {
	case nil, string, bool:
		return v, true
	case int:
		return int64(v), true
	case []any:
		for i, e := range v {
			if v[i], ok = plain(e); !ok {
				return nil, false
			}
		}
		return v, true
	case map[string]any:
		for key, e := range v {
			if v[key], ok = plain(e); !ok {
				return nil, false
			}
		}
		return v, true
	}
	return nil, false
}

// Rewrite makes a Rendered of objects that a server has returned.
func Rewrite(objects []*unstructured.Unstructured) (Rendered, error) {
	r := Rendered{objects: objects}
	for _, o := range objects {
		text, err := goyaml.Marshal(o.Object)
		if err != nil {
			return Rendered{}, fmt.Errorf("writing %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		r.texts = append(r.texts, text)
	}
	return r, nil
}

// separator comes between the objects of a stream of YAML.
const separator = "---\n"

// YAML returns the stream that `kubectl kustomize` prints.
func (r Rendered) YAML() []byte { return bytes.Join(r.texts, []byte(separator)) }

// WriteYAML writes the stream of YAML without another copy of the runner in memory.
func (r Rendered) WriteYAML(w io.Writer) error {
	for i, text := range r.texts {
		if i > 0 {
			if _, err := io.WriteString(w, separator); err != nil {
				return err
			}
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// WithoutRunner leaves out the runner's ConfigMap, which other jobs need too.
func (r Rendered) WithoutRunner() Rendered {
	var rest Rendered
	for i, o := range r.objects {
		if o.GetKind() != "ConfigMap" || !strings.HasPrefix(o.GetName(), api.RunnerPrefix) {
			rest.objects, rest.texts = append(rest.objects, o), append(rest.texts, r.texts[i])
		}
	}
	return rest
}

// JSON returns one v1 List, indented as kubectl does, with a newline at the end.
func (r Rendered) JSON() ([]byte, error) {
	list := map[string]any{"apiVersion": "v1", "kind": "List", "items": r.objects}
	text, err := json.MarshalIndent(list, "", "    ")
	if err != nil {
		return nil, fmt.Errorf("writing the objects as JSON: %w", err)
	}
	return append(text, '\n'), nil
}

// Names lists the objects as kubectl names them, in the order of YAML: configmap/NAME,
// job.batch/NAME.
func (r Rendered) Names() []string {
	var names []string
	for _, o := range r.objects {
		gvk := o.GroupVersionKind()
		kind := strings.ToLower(gvk.Kind)
		if gvk.Group != "" {
			kind += "." + gvk.Group
		}
		names = append(names, kind+"/"+o.GetName())
	}
	return names
}

// Objects returns the objects in the order of YAML. They belong to the caller, who adds
// only ownerReferences before applying them.
func (r Rendered) Objects() []*unstructured.Unstructured { return r.objects }
