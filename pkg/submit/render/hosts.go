package render

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// group makes the pod of a job a Job, the pods of several hosts, or the pods of a map. It
// consists of components and of what puts the job's numbers into their samples.
type group struct {
	components []string
	patches    []kindPatch
	// fill changes a sample itself; nil if no sample needs it.
	fill func(tree) error
	// adds reports that the components add objects that have no namespace yet.
	adds bool
	// references are components that let kustomize follow names into the added objects.
	references []string
}

var (
	jobKind             = resid.Gvk{Group: "batch", Kind: "Job"}
	leaderWorkerSetKind = resid.Gvk{Group: "leaderworkerset.x-k8s.io", Kind: "LeaderWorkerSet"}
)

func groupOf(s api.Spec, r program, l lists) (group, error) {
	switch {
	case s.Backend.IsLeaderWorkerSet():
		return leaderWorkerSet(s, r, l)
	case s.Hosts > 1:
		return indexedJob(s, l)
	case s.Map != nil:
		return mapJob(s), nil
	}
	if s.RetryOn == api.RetryOnError {
		return group{components: []string{path.Join(componentsDir, "retry-on-error")}}, nil
	}
	return group{}, nil
}

const (
	// maxIndexRestarts stays well below a million, which kustomize writes as 1e+06.
	maxIndexRestarts = 100_000
	// minTries is how many pods at least compute an input that each of them doesn't survive.
	minTries = 2
	// hostsFile is the patch that puts the numbers of pods into a Job.
	hostsFile = "job.json"
)

// mapJob replaces the samples of the component map. An input that exhausts the memory may
// take the container down with it. Its chunk then starts again, tries it some more times,
// and leaves it out. With so many restarts for each input, one input can't end the others.
// The runner itself counts the retries.
func mapJob(s api.Spec) group {
	var p patch
	p.replace("/spec/completions", s.Map.Chunks())
	p.replace("/spec/parallelism", s.Map.Parallelism)
	p.replace("/spec/backoffLimitPerIndex", min(s.Retries+1+max(minTries, s.Retries+1)*s.Map.Chunk, maxIndexRestarts))
	p.replace("/spec/maxFailedIndexes", s.Map.Chunks())
	return group{
		components: []string{path.Join(componentsDir, "map")},
		patches:    []kindPatch{{jobKind, hostsFile, p}},
	}
}

func indexedJob(s api.Spec, l lists) (group, error) {
	g := group{components: []string{path.Join(componentsDir, "indexedjob")}, adds: true}
	if err := l.follow(g.components[0]); err != nil {
		return g, err
	}
	var p patch
	p.replace("/spec/completions", s.Hosts)
	p.replace("/spec/parallelism", s.Hosts)
	p.replace(p.entry(l, envList, api.EnvHosts)+"/value", strconv.Itoa(s.Hosts))
	g.patches = []kindPatch{{jobKind, hostsFile, p}}
	return g, nil
}

// nodePool keeps a TPU slice, which is a node pool, for one job. If several pools have
// the job's topology, two jobs could each get a part of the same pool, and both would
// wait for the rest forever. LeaderWorkerSet chooses the pool of each slice by itself,
// but it only sees the sets of one namespace.
func (p *patch) nodePool(s api.Spec) {
	if s.Accelerator.Kind != api.TPU || s.Machines() == 1 || s.NodePools == api.NodePoolsShared {
		return
	}
	rule := func(r ...metav1.LabelSelectorRequirement) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: api.NodeLabelPool, LabelSelector: &metav1.LabelSelector{MatchExpressions: r}}
	}
	apart := rule(
		metav1.LabelSelectorRequirement{Key: api.LabelJobID, Operator: metav1.LabelSelectorOpExists},
		metav1.LabelSelectorRequirement{Key: api.LabelJobID, Operator: metav1.LabelSelectorOpNotIn, Values: []string{s.ID}})
	apart.NamespaceSelector = &metav1.LabelSelector{} // all
	affinity := corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{apart}}}
	if !s.Backend.IsLeaderWorkerSet() {
		together := rule(metav1.LabelSelectorRequirement{Key: api.LabelJobID, Operator: metav1.LabelSelectorOpIn, Values: []string{s.ID}})
		affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{together}}
	}
	p.add(podSpec+"/affinity", affinity)
}

const (
	setDir      = componentsDir + "/leaderworkerset"
	setFile     = setDir + "/leaderworkerset.yaml"
	roleFile    = setDir + "/role.yaml"
	bindingFile = setDir + "/rolebinding.yaml"

	// Annotations with which LeaderWorkerSet gives the hosts of a set, or of each of its
	// slices, a node pool of their own.
	exclusiveTopology  = "leaderworkerset.sigs.k8s.io/exclusive-topology"
	exclusiveSubGroups = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
)

// leaderWorkerSet fills in the samples of the component leaderworkerset, and replaces
// those of the component slices.
func leaderWorkerSet(s api.Spec, r program, l lists) (group, error) {
	const template = "/spec/leaderWorkerTemplate"
	g := group{
		components: []string{setDir},
		fill:       func(t tree) error { return errors.Join(t.putSet(s, r), t.putClaim(s), t.putPolicy(s)) },
		references: []string{path.Join(componentsDir, "references")},
	}
	var set patch
	if s.Slices > 1 {
		slices := path.Join(componentsDir, "slices")
		g.components = append(g.components, slices)
		// The variables that a pod already has are unknown here: the component puts its
		// own first.
		if err := l.follow(slices); err != nil {
			return g, err
		}
		set.replace(template+"/subGroupPolicy/subGroupSize", s.Hosts/s.Slices)
		for _, pod := range []string{"/leaderTemplate", "/workerTemplate"} {
			set.replace(set.entry(l, template+pod+"/spec/containers/0/env", api.EnvSlices)+"/value", strconv.Itoa(s.Slices))
		}
	}
	if s.Accelerator.Kind == api.TPU && (s.Machines() == 1 || s.NodePools == api.NodePoolsShared) {
		// Each machine of a pool of single hosts is a slice, and has room for another
		// job.
		key := exclusiveTopology
		if s.Slices > 1 {
			key = exclusiveSubGroups
		}
		set.remove(pointer(jobMetadata+"/annotations", key))
	}
	if s.Pathways != nil {
		g.runtime(s, &set)
	}
	if set != nil {
		g.patches = append(g.patches, kindPatch{leaderWorkerSetKind, "leaderworkerset.json", set})
	}
	return g, nil
}

// putSet fills the job's values into the samples of a set and of its leader's role. A
// patch would be slower: it would apply when the set already has two pods.
func (t tree) putSet(s api.Spec, r program) error {
	return errors.Join(
		t.fill(setFile, s, func(set *unstructured.Unstructured) error {
			set.SetAnnotations(annotations(s, r))
			size := s.Hosts
			if s.Pathways != nil {
				size += s.Pathways.TPUHosts
			}
			return unstructured.SetNestedField(set.Object, int64(size), "spec", "leaderWorkerTemplate", "size")
		}),
		t.fill(roleFile, s, func(*unstructured.Unstructured) error { return nil }),
		t.fill(bindingFile, s, func(binding *unstructured.Unstructured) error {
			subjects, _, err := unstructured.NestedSlice(binding.Object, "subjects")
			if err != nil {
				return err
			}
			for _, account := range subjects {
				account.(map[string]any)["namespace"] = s.Namespace
			}
			return unstructured.SetNestedSlice(binding.Object, subjects, "subjects")
		}),
	)
}

// putClaim puts the template of what pods claim into the namespace of the job.
func (t tree) putClaim(s api.Spec) error {
	if s.Network != api.NetworkRDMA {
		return nil
	}
	return t.fill(claimFile, s, func(*unstructured.Unstructured) error { return nil })
}

// fill puts a sample into the namespace of the job, and applies change to it.
func (t tree) fill(file string, s api.Spec, change func(*unstructured.Unstructured) error) error {
	var sample unstructured.Unstructured
	if err := yaml.Unmarshal(t[file], &sample.Object); err != nil {
		return fmt.Errorf("reading the built-in manifests: %s: %w", file, err)
	}
	sample.SetNamespace(s.Namespace)
	if err := change(&sample); err != nil {
		return fmt.Errorf("reading the built-in manifests: %s: %w", file, err)
	}
	return t.put(file, s.ID, sample.Object)
}

// write adds what the components of the group need, and returns the directories to be
// listed after the job's.
func (g group) write(files tree, s api.Spec) ([]string, error) {
	if g.fill != nil {
		if err := g.fill(files); err != nil {
			return nil, err
		}
	}
	if g.patches == nil {
		return g.components, nil
	}
	return append(slices.Clone(g.components), hostsDir), files.putComponent(hostsDir, s.ID, g.patches)
}
