package render

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/manifests"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// tree is a kustomization: contents by slash-separated paths below its root.
type tree map[string][]byte

const (
	kustomizationFile = "kustomization.yaml"
	patchFile         = "patch.json"
	overlayDir        = "overlay"
	jobDir            = "job"
	hostsDir          = "hosts"
	baseDir           = "base/job"
	componentsDir     = "components"

	archARM = "arm64"

	componentKey = "store-credentials"

	// marker begins what this package wrote, and may therefore replace.
	marker = api.OverlayMarker
	header = marker + ` for job %s.
# It is replaced as a whole when written again: keep changes of your own in a
# component elsewhere, for --overlay.
`
)

// generate makes the kustomization of a job. One host without a component of the
// user is one directory on top of base and components. Otherwise that directory is
// job, and what makes it a job on several hosts and the user's component come
// after it, in this order.
func generate(s api.Spec, o Overlay, p program) (tree, error) {
	g := groupOf(s)
	layers := g.layers()
	if !o.empty() {
		layers = append(layers, overlayDir)
	}
	dir := ""
	if len(layers) > 0 {
		dir = jobDir
	}
	files, err := job(s, p, dir)
	if err != nil {
		return nil, err
	}
	for _, dir := range slices.Concat([]string{baseDir}, componentsOf(s), g.components) {
		if err := files.copyManifests(dir); err != nil {
			return nil, err
		}
	}
	if err := g.write(files, s); err != nil {
		return nil, err
	}
	for name, content := range o.files {
		files[path.Join(overlayDir, name)] = content
	}
	if len(layers) == 0 {
		return files, nil
	}
	return files, files.put(kustomizationFile, fmt.Sprintf(header, s.ID), types.Kustomization{
		TypeMeta:    types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Resources:   []string{jobDir},
		Components:  layers,
		Namespace:   s.Namespace, // of what the layers add, too
		SortOptions: &types.SortOptions{Order: types.LegacySortOrder},
	})
}

// componentsOf lists the components for the pod of a job, in the order in which
// they build on each other.
func componentsOf(s api.Spec) []string {
	var names []string
	for _, c := range []struct {
		name string
		used bool
	}{
		{string(s.Accelerator.Kind), true},
		{archARM, s.Accelerator.Arch == archARM},
		{"spot", s.Accelerator.Spot},
		{"reservation", s.Reservation != ""},
		{"flex-start", s.FlexStart},
		{"compute-class", s.ComputeClass != ""},
		{"queue", s.Queue != ""},
		{"priority-class", s.PriorityClass != ""},
		{componentKey, s.StoreCredentials != ""},
		{"debug", s.Debug},
	} {
		if c.used {
			names = append(names, path.Join(componentsDir, c.name))
		}
	}
	return names
}

// job is the kustomization, in dir, of a job that nobody has changed: what is
// particular to it, on top of base and components.
func job(s api.Spec, p program, dir string) (tree, error) {
	steps, err := jobPatch(s, p).encode()
	if err != nil {
		return nil, fmt.Errorf("writing %s of the kustomization: %w", patchFile, err)
	}
	below := func(name string) string {
		if dir == "" {
			return name
		}
		return path.Join("..", name)
	}
	components := componentsOf(s)
	for i, name := range components {
		components[i] = below(name)
	}
	files := tree{path.Join(dir, patchFile): steps}
	for name, source := range p.files {
		files[path.Join(dir, name)] = source
	}
	return files, files.put(path.Join(dir, kustomizationFile), fmt.Sprintf(header, s.ID), types.Kustomization{
		TypeMeta:   types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Resources:  []string{below(baseDir)},
		Components: components,
		Patches: []types.Patch{{
			Path:   patchFile,
			Target: &types.Selector{ResId: resid.ResId{Gvk: jobKind}},
		}},
		ConfigMapGenerator: []types.ConfigMapArgs{runnerConfigMap(s, p)},
		SortOptions:        &types.SortOptions{Order: types.LegacySortOrder},
	})
}

func runnerConfigMap(s api.Spec, p program) types.ConfigMapArgs {
	return types.ConfigMapArgs{GeneratorArgs: types.GeneratorArgs{
		Namespace:     s.Namespace,
		Name:          p.configMap(),
		KvPairSources: types.KvPairSources{FileSources: slices.Sorted(maps.Keys(p.files))},
		Options: &types.GeneratorOptions{
			// Jobs share it: nothing in it names one of them.
			Labels: map[string]string{
				"app.kubernetes.io/component":  "runner",
				"app.kubernetes.io/managed-by": "kubectl-kinetic",
				"app.kubernetes.io/name":       "kinetic",
			},
			DisableNameSuffixHash: true,
			Immutable:             true,
		},
	}}
}

// put stores v as YAML below a comment.
func (t tree) put(name, comment string, v any) error {
	text, err := yaml.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing %s of the kustomization: %w", name, err)
	}
	t[name] = append([]byte(comment), text...)
	return nil
}

func (t tree) copyManifests(dir string) error {
	return fs.WalkDir(manifests.FS, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("reading the built-in manifests: %w", err)
		}
		if d.IsDir() {
			return nil
		}
		t[name], err = manifests.FS.ReadFile(name)
		return err
	})
}

// with is a copy of the tree in which one file differs.
func (t tree) with(name string, content []byte) tree {
	other := maps.Clone(t)
	other[name] = content
	return other
}
