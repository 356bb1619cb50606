package render

import (
	"fmt"
	"path"
	"regexp"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// refuseMerges rejects strategic merge patches of a LeaderWorkerSet: kustomize has no
// schema for it, and silently replaces its lists by those of the patch.
func (o Overlay) refuseMerges() error {
	for _, name := range o.kustomizations {
		k, err := parseKustomization(o.files[name])
		if err != nil {
			return err
		}
		for i, p := range k.Patches {
			text := []byte(p.Patch)
			if p.Path != "" {
				text = o.files[path.Join(path.Dir(name), p.Path)]
			}
			if mergesSet(p.Target, text) {
				return fmt.Errorf("%s: patches[%d]: a strategic merge patch would replace the list of containers of a LeaderWorkerSet, for which kustomize has no schema, and drop their image and command; write a JSON 6902 patch: a list of op, path and value", name, i)
			}
		}
	}
	return nil
}

// mergesSet reports whether a patch is a strategic merge patch, which is an object rather
// than a list, whose target may be a LeaderWorkerSet.
func mergesSet(target *types.Selector, text []byte) bool {
	var object struct{ Kind string }
	if err := yaml.Unmarshal(text, &object); err != nil {
		return false
	}
	kind := object.Kind
	if target != nil {
		kind = target.Kind
	}
	matches, err := regexp.MatchString("^(?:"+kind+")$", leaderWorkerSetKind.Kind)
	return kind == "" || err == nil && matches
}
