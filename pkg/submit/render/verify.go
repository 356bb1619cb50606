package render

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// lookAgain ends messages about an overlay that doesn't fit the objects.
const lookAgain = "list what it renders with --dry-run=client -o yaml"

// verify checks that each entry of the overlay has an effect, which kustomize doesn't,
// and that kinetic can still follow the job.
func (o Overlay) verify(s api.Spec, p program, files tree, got Rendered) error {
	for _, name := range o.kustomizations {
		if err := verifyEntries(path.Join(overlayDir, name), files, got); err != nil {
			return err
		}
	}
	before, err := buildAlone(s, p)
	if err != nil {
		return err
	}
	if bytes.Equal(before.YAML(), got.YAML()) {
		return errors.New("it changes nothing; " + lookAgain)
	}
	if err := decodeAll(got); err != nil {
		return err
	}
	return verifyWorkload(s, before, got, p.configMapName())
}

// verifyEntries builds without each entry of a kustomization in turn. If that build fails
// or prints something else, the entry matters.
func verifyEntries(name string, files tree, got Rendered) error {
	k, err := parseKustomization(files[name])
	if err != nil {
		return err
	}
	for i, e := range entries(k) {
		without, err := parseKustomization(files[name])
		if err != nil {
			return err
		}
		entries(without)[i].remove(&without)
		content, err := yaml.Marshal(without)
		if err != nil {
			return fmt.Errorf("writing %s without %s: %w", name, e.where, err)
		}
		other, err := build(files.with(name, content))
		if err == nil && bytes.Equal(other.YAML(), got.YAML()) {
			return fmt.Errorf("%s: %s: no object matches %s, or it changes nothing; %s",
				strings.TrimPrefix(name, overlayDir+"/"), e.where, e.target, lookAgain)
		}
	}
	return nil
}

// entry is one item of a list in a kustomization that changes objects.
type entry struct {
	where, target string
	remove        func(*types.Kustomization)
}

func entries(k types.Kustomization) []entry {
	var all []entry
	add := func(field string, i int, target string, remove func(*types.Kustomization)) {
		all = append(all, entry{fmt.Sprintf("%s[%d]", field, i), target, func(k *types.Kustomization) {
			remove(k)
			// A kustomization without any field is an error.
			k.MetaData = &types.ObjectMeta{Name: overlayDir}
		}})
	}
	for i, e := range k.Patches {
		add("patches", i, patchTarget(e), func(k *types.Kustomization) { k.Patches = slices.Delete(k.Patches, i, i+1) })
	}
	for i, e := range k.Images {
		add("images", i, "image "+e.Name, func(k *types.Kustomization) { k.Images = slices.Delete(k.Images, i, i+1) })
	}
	for i, e := range k.Replacements {
		add("replacements", i, replacementTarget(e), func(k *types.Kustomization) {
			k.Replacements = slices.Delete(k.Replacements, i, i+1)
		})
	}
	for i, e := range k.Replicas {
		add("replicas", i, e.Name, func(k *types.Kustomization) { k.Replicas = slices.Delete(k.Replicas, i, i+1) })
	}
	for i := range k.Labels {
		add("labels", i, "them", func(k *types.Kustomization) { k.Labels = slices.Delete(k.Labels, i, i+1) })
	}
	return all
}

func patchTarget(p types.Patch) string {
	if p.Target == nil {
		return "the patch"
	}
	return "target " + selector(*p.Target)
}

func replacementTarget(r types.ReplacementField) string {
	var targets []string
	for _, t := range r.Targets {
		if t.Select != nil {
			targets = append(targets, selector(*t.Select))
		}
	}
	if len(targets) == 0 {
		return "its targets"
	}
	return "targets " + strings.Join(targets, ", ")
}

// selector formats a target as in the kustomization.
func selector(s types.Selector) string {
	var parts []string
	for _, f := range []struct{ name, value string }{
		{"group", s.Group}, {"version", s.Version}, {"kind", s.Kind}, {"name", s.Name}, {"namespace", s.Namespace},
		{"labelSelector", s.LabelSelector}, {"annotationSelector", s.AnnotationSelector},
	} {
		if f.value != "" {
			parts = append(parts, f.name+": "+f.value)
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
