package render

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// group is what makes the pod of a job the pods of several hosts, or of a map:
// components, and what puts the numbers of the job into their objects.
type group struct {
	components   []string
	patches      []groupPatch
	replacements []types.ReplacementField
}

// groupPatch is for the objects of one kind.
type groupPatch struct {
	gvk   resid.Gvk
	steps patch
}

var (
	jobKind             = resid.Gvk{Group: "batch", Kind: "Job"}
	leaderWorkerSetKind = resid.Gvk{Group: "leaderworkerset.x-k8s.io", Kind: "LeaderWorkerSet"}
	roleBindingKind     = resid.Gvk{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}
)

// groupOf is empty for a Job of one pod.
func groupOf(s api.Spec) group {
	switch {
	case s.Backend == api.BackendPathways:
		return leaderWorkerSet(s)
	case s.Hosts > 1:
		return indexedJob(s)
	case s.Map != nil:
		return mapJob(s)
	}
	return group{}
}

// mapJob replaces the samples of the component map.
func mapJob(s api.Spec) group {
	var p patch
	p.replace("/spec/completions", s.Map.Chunks())
	p.replace("/spec/parallelism", s.Map.Parallelism)
	p.replace("/spec/backoffLimitPerIndex", s.Retries)
	p.replace("/spec/maxFailedIndexes", s.Map.Chunks())
	return group{
		components: []string{path.Join(componentsDir, "map")},
		patches:    []groupPatch{{jobKind, p}},
	}
}

// indexedJob replaces the samples of the component indexedjob.
func indexedJob(s api.Spec) group {
	var p patch
	p.replace("/spec/completions", s.Hosts)
	p.replace("/spec/parallelism", s.Hosts)
	p.test(container+"/env/0/name", api.EnvHosts)
	p.replace(container+"/env/0/value", strconv.Itoa(s.Hosts))
	return group{
		components: []string{path.Join(componentsDir, "indexedjob")},
		patches:    []groupPatch{{jobKind, p}},
	}
}

// nodePool keeps a slice of a TPU together, which is a node pool: where several have its
// topology, no job has a part of a pool of which another has one, or both would wait for
// the rest for ever. LeaderWorkerSet chooses the pool of each slice by itself, but sees
// the sets of one namespace alone.
func (p *patch) nodePool(s api.Spec) {
	if s.Accelerator.Kind != api.TPU || s.Hosts == 1 {
		return
	}
	rule := func(r ...metav1.LabelSelectorRequirement) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: "cloud.google.com/gke-nodepool", LabelSelector: &metav1.LabelSelector{MatchExpressions: r}}
	}
	apart := rule(
		metav1.LabelSelectorRequirement{Key: api.LabelJobID, Operator: metav1.LabelSelectorOpExists},
		metav1.LabelSelectorRequirement{Key: api.LabelJobID, Operator: metav1.LabelSelectorOpNotIn, Values: []string{s.ID}})
	apart.NamespaceSelector = &metav1.LabelSelector{} // all
	affinity := corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{apart}}}
	if s.Backend != api.BackendPathways {
		together := rule(metav1.LabelSelectorRequirement{Key: api.LabelJobID, Operator: metav1.LabelSelectorOpIn, Values: []string{s.ID}})
		affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{together}}
	}
	p.add(podSpec+"/affinity", affinity)
}

// parallelism is where the Job says how many hosts its LeaderWorkerSet has.
const parallelism = "/spec/parallelism"

// leaderWorkerSet replaces the samples of the components leaderworkerset and
// slices. What the Job has is copied: a patch of the set, which holds two pods,
// would take as long as all of a job on one host.
func leaderWorkerSet(s api.Spec) group {
	const template = "/spec/leaderWorkerTemplate"
	g := group{
		components: []string{path.Join(componentsDir, "leaderworkerset")},
		replacements: []types.ReplacementField{
			copied(parallelism, leaderWorkerSetKind, template+"/size"),
			copied(jobMetadata+"/namespace", roleBindingKind, "/subjects/0/namespace"),
		},
	}
	for _, key := range slices.Sorted(maps.Keys(annotations(s))) {
		at := pointer(jobMetadata+"/annotations", key)
		g.replacements = append(g.replacements, copied(at, leaderWorkerSetKind, at))
	}
	if s.Accelerator.Kind == api.TPU && s.Hosts == 1 {
		// Each machine of such a pool is a slice, and has room for another job.
		var set patch
		set.remove(pointer(jobMetadata+"/annotations", "leaderworkerset.sigs.k8s.io/exclusive-topology"))
		g.patches = []groupPatch{{leaderWorkerSetKind, set}}
	}
	if s.Slices == 1 {
		return g
	}
	g.components = append(g.components, path.Join(componentsDir, "slices"))
	var set patch
	set.replace(template+"/subGroupPolicy/subGroupSize", s.Hosts/s.Slices)
	for _, pod := range []string{"/leaderTemplate", "/workerTemplate"} {
		first := template + pod + "/spec/containers/0/env/0"
		set.test(first+"/name", api.EnvSlices)
		set.replace(first+"/value", strconv.Itoa(s.Slices))
	}
	g.patches = []groupPatch{{leaderWorkerSetKind, set}}
	return g
}

// copied puts a field of the Job into another object.
func copied(from string, kind resid.Gvk, to string) types.ReplacementField {
	return types.ReplacementField{Replacement: types.Replacement{
		Source: &types.SourceSelector{ResId: resid.ResId{Gvk: jobKind}, FieldPath: fieldPath(from)},
		Targets: []*types.TargetSelector{{
			Select:     &types.Selector{ResId: resid.ResId{Gvk: kind}},
			FieldPaths: []string{fieldPath(to)},
			Options:    &types.FieldOptions{Create: true},
		}},
	}}
}

// fieldPath is a JSON pointer as replacements spell it.
func fieldPath(pointer string) string {
	return strings.NewReplacer(".", `\.`, "/", ".", "~1", "/", "~0", "~").Replace(pointer[1:])
}

// write adds the components of the group, which go behind the job's, and tells
// their directories.
func (g group) write(files tree, s api.Spec) ([]string, error) {
	if g.components == nil {
		return nil, nil
	}
	k := types.Kustomization{TypeMeta: componentType, Replacements: g.replacements}
	for _, p := range g.patches {
		file := strings.ToLower(p.gvk.Kind) + ".json"
		steps, err := p.steps.encode()
		if err != nil {
			return nil, fmt.Errorf("writing %s of the kustomization: %w", file, err)
		}
		files[path.Join(hostsDir, file)] = steps
		k.Patches = append(k.Patches, types.Patch{Path: file, Target: &types.Selector{ResId: resid.ResId{Gvk: p.gvk}}})
	}
	return append(slices.Clone(g.components), hostsDir), files.put(path.Join(hostsDir, kustomizationFile), fmt.Sprintf(header, s.ID), k)
}
