package render

import (
	"fmt"
	"path"
	"regexp"
	"slices"

	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// refuse rejects what kustomize would do to a job without a warning.
func (o Overlay) refuse(s api.Spec) error {
	if s.Backend.IsLeaderWorkerSet() {
		if err := o.refuseMerges(); err != nil {
			return err
		}
	}
	return o.refuseNamespaces(s.Namespace)
}

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
	objects, err := objectsIn(text)
	return err == nil && slices.ContainsFunc(objects, func(o *resource.Resource) bool {
		kind := o.GetKind()
		if target != nil {
			kind = target.Kind
		}
		matches, err := regexp.MatchString("^(?:"+kind+")$", leaderWorkerSetKind.Kind)
		return kind == "" || err == nil && matches
	})
}

// objectsIn reads objects as kustomize does: a text may have several documents, and they may
// be lists of objects.
func objectsIn(text []byte) ([]*resource.Resource, error) {
	return provider.NewDefaultDepProvider().GetResourceFactory().SliceFromBytes(text)
}

// refuseNamespaces rejects objects of another namespace than the job's, in which kustomize
// would put them silently.
func (o Overlay) refuseNamespaces(namespace string) error {
	for _, name := range o.kustomizations {
		k, err := parseKustomization(o.files[name])
		if err != nil {
			return err
		}
		for _, file := range k.Resources {
			file = path.Join(path.Dir(name), file)
			objects, err := objectsIn(o.files[file]) // none of a directory
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			for _, object := range objects {
				if its := object.GetNamespace(); its != "" && its != namespace {
					return fmt.Errorf("%s: %s %s has the namespace %s, but objects of an overlay are in the namespace of the job, %s: remove metadata.namespace, or use -n %s", file, object.GetKind(), object.GetName(), its, namespace, its)
				}
			}
		}
	}
	return nil
}
