package render

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
)

type reference struct {
	field, path         string
	mayBeDir, mustBeDir bool
}

// references lists all paths that kustomize would open for k.
func references(k types.Kustomization) []reference {
	var refs []reference
	files := func(field string, paths ...string) {
		for _, p := range paths {
			if p != "" {
				refs = append(refs, reference{field: field, path: p})
			}
		}
	}
	for _, p := range k.Resources {
		refs = append(refs, reference{field: "resources", path: p, mayBeDir: true})
	}
	for _, p := range k.Components {
		refs = append(refs, reference{field: "components", path: p, mayBeDir: true, mustBeDir: true})
	}
	files("crds", k.Crds...)
	files("configurations", k.Configurations...)
	for _, p := range k.Patches {
		files("patches", p.Path)
	}
	for _, p := range k.Replacements {
		files("replacements", p.Path)
	}
	for _, g := range k.ConfigMapGenerator {
		files("configMapGenerator", sources(g.KvPairSources)...)
	}
	for _, g := range k.SecretGenerator {
		files("secretGenerator", sources(g.KvPairSources)...)
	}
	return refs
}

func sources(s types.KvPairSources) []string {
	paths := append([]string{s.EnvSource}, s.EnvSources...)
	for _, file := range s.FileSources {
		if _, p, named := strings.Cut(file, "="); named {
			file = p
		}
		paths = append(paths, file)
	}
	return paths
}

// remote reports whether kustomize could take a path for the address of a repository or a
// file elsewhere: it has a scheme (https://), has a user (git@) or begins with the one
// host that needs neither. It is also true for paths of files with ':' or '@'.
func remote(p string) bool {
	return strings.ContainsAny(p, ":@") || strings.HasPrefix(strings.ToLower(p), "github.com/")
}

// refuseFields rejects fields that run programs, have no effect, or change the schema of
// later builds in this process, and those that kustomize itself warns about.
func refuseFields(k types.Kustomization) error {
	for _, field := range []struct {
		name string
		used bool
		why  string
	}{
		{"helmCharts", len(k.HelmCharts) > 0, noPrograms},
		{"helmGlobals", k.HelmGlobals != nil, noPrograms},
		{"helmChartInflationGenerator", len(k.HelmChartInflationGenerator) > 0, noPrograms},
		{"generators", len(k.Generators) > 0, noPrograms},
		{"transformers", len(k.Transformers) > 0, noPrograms},
		{"validators", len(k.Validators) > 0, noPrograms},
		{"namespace", k.Namespace != "", "all objects of a job are in the namespace of --namespace"},
		{"openapi", len(k.OpenAPI) > 0, "it replaces the schema of all other objects: use a JSON 6902 patch instead"},
		{"bases", len(k.Bases) > 0, "deprecated in kustomize: use resources"},
		{"commonLabels", len(k.CommonLabels) > 0, "deprecated in kustomize: use labels"},
		{"imageTags", len(k.ImageTags) > 0, "deprecated in kustomize: use images"},
		{"patchesJson6902", len(k.PatchesJson6902) > 0, "deprecated in kustomize: use patches"},
		{"patchesStrategicMerge", len(k.PatchesStrategicMerge) > 0, "deprecated in kustomize: use patches"},
		{"vars", len(k.Vars) > 0, "deprecated in kustomize: use replacements"},
	} {
		if field.used {
			return fmt.Errorf("field %s is not allowed in an overlay: %s", field.name, field.why)
		}
	}
	return nil
}

const noPrograms = "plugins and charts may run programs: put their output into resources or patches"
