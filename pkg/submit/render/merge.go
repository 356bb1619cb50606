package render

import (
	"fmt"
	"path"
	"regexp"
	"slices"

	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
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

// mergesSet reports whether a patch is a strategic merge patch, which is objects rather than
// a list of steps, and one whose target may be a LeaderWorkerSet.
func mergesSet(target *types.Selector, text []byte) bool {
	// As kustomize does: a text may have several documents, and they may be lists of objects.
	objects, err := provider.NewDefaultDepProvider().GetResourceFactory().SliceFromBytes(text)
	return err == nil && slices.ContainsFunc(objects, func(o *resource.Resource) bool {
		kind := o.GetKind()
		if target != nil {
			kind = target.Kind
		}
		matches, err := regexp.MatchString("^(?:"+kind+")$", leaderWorkerSetKind.Kind)
		return kind == "" || err == nil && matches
	})
}
