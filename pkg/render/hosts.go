package render

import (
	"fmt"
	"path"
	"strconv"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// group is what makes the pod of a job the pods of several hosts, or of a map:
// components, and a patch with the numbers of the job.
type group struct {
	components []string
	patches    []groupPatch
}

// groupPatch is for the objects of one kind.
type groupPatch struct {
	file  string
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
		patches:    []groupPatch{{"job.json", jobKind, p}},
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
		patches:    []groupPatch{{"job.json", jobKind, p}},
	}
}

// leaderWorkerSet replaces the samples of the components leaderworkerset and
// slices, and gives the set the annotations of the Job.
func leaderWorkerSet(s api.Spec) group {
	const template = "/spec/leaderWorkerTemplate"
	g := group{components: []string{path.Join(componentsDir, "leaderworkerset")}}
	var set patch
	if s.Accelerator.Kind == api.TPU { // there is one already, about its placement
		set.addEach("/metadata/annotations", annotations(s))
	} else {
		set.add("/metadata/annotations", annotations(s))
	}
	set.replace(template+"/size", s.Hosts)
	if s.Slices > 1 {
		g.components = append(g.components, path.Join(componentsDir, "slices"))
		set.replace(template+"/subGroupPolicy/subGroupSize", s.Hosts/s.Slices)
		for _, pod := range []string{"/leaderTemplate", "/workerTemplate"} {
			first := template + pod + "/spec/containers/0/env/0"
			set.test(first+"/name", api.EnvSlices)
			set.replace(first+"/value", strconv.Itoa(s.Slices))
		}
	}
	var binding patch
	binding.replace("/subjects/0/namespace", s.Namespace)
	g.patches = []groupPatch{{"leaderworkerset.json", leaderWorkerSetKind, set}, {"rolebinding.json", roleBindingKind, binding}}
	return g
}

// layers are the directories that the group adds to a kustomization.
func (g group) layers() []string {
	if g.components == nil {
		return nil
	}
	return []string{hostsDir}
}

// write adds the component that the group is.
func (g group) write(files tree, s api.Spec) error {
	if g.components == nil {
		return nil
	}
	k := types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.ComponentVersion, Kind: types.ComponentKind}}
	for _, name := range g.components {
		k.Components = append(k.Components, path.Join("..", name))
	}
	for _, p := range g.patches {
		steps, err := p.steps.encode()
		if err != nil {
			return fmt.Errorf("writing %s of the kustomization: %w", p.file, err)
		}
		files[path.Join(hostsDir, p.file)] = steps
		k.Patches = append(k.Patches, types.Patch{Path: p.file, Target: &types.Selector{ResId: resid.ResId{Gvk: p.gvk}}})
	}
	return files.put(path.Join(hostsDir, kustomizationFile), fmt.Sprintf(header, s.ID), k)
}
