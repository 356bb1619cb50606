package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	goyaml "go.yaml.in/yaml/v2"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/kubectl-kinetic/kinetic/manifests"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// tree is a kustomization: file contents by slash-separated path relative to its root.
type tree map[string][]byte

const (
	kustomizationFile = "kustomization.yaml"
	patchFile         = "patch.json"
	overlayDir        = "overlay"
	jobDir            = "job"
	hostsDir          = "hosts"
	graceDir          = "grace"
	baseDir           = "base/job"
	jobFile           = baseDir + "/job.yaml"
	componentsDir     = "components"

	archARM = "arm64"

	componentKey = "store-credentials"

	// marker begins the files that this package wrote and may therefore replace.
	marker = api.OverlayMarker
	header = marker + ` for job %s.
# It is replaced entirely when written again: keep your own changes in a
# component elsewhere, for --overlay.
`
)

// generate makes the kustomization of a job: the base and the components for its pod, the
// component job with the job's own patch, the components that make the pod a Job or
// several hosts, and the user's component. A whole kustomization also contains the
// components that let kustomize follow names, for something on top of it such as an
// overlay. Otherwise it omits the runner's ConfigMap, which kustomize would only read and
// write several times.
func generate(s api.Spec, o Overlay, p program, whole bool) (tree, error) {
	files := tree{}
	l, err := readLists(componentsOf(s))
	if err != nil {
		return nil, err
	}
	if err := files.putJob(s, p, l, whole); err != nil {
		return nil, err
	}
	g, err := groupOf(s, p, l)
	if err != nil {
		return nil, err
	}
	if whole {
		g.components = slices.Concat(g.components, g.references)
	}
	for _, dir := range slices.Concat([]string{baseDir}, componentsOf(s), g.components) {
		if err := files.copyManifests(dir); err != nil {
			return nil, err
		}
	}
	layers, err := g.write(files, s)
	if err != nil {
		return nil, err
	}
	// printOrder puts what a workload needs before it, and the runner, which nobody reads,
	// last.
	printOrder := types.LegacySortOptions{
		OrderFirst: []string{"ServiceAccount", "Role", "RoleBinding", "Secret", "PersistentVolumeClaim", "ResourceClaimTemplate", "NetworkPolicy", "Service"},
		OrderLast:  []string{"ConfigMap"},
	}
	k := types.Kustomization{
		TypeMeta:    types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Resources:   []string{baseDir},
		Components:  slices.Concat(componentsOf(s), []string{jobDir}, layers),
		SortOptions: &types.SortOptions{Order: types.LegacySortOrder, LegacySortOptions: &printOrder},
	}
	if !o.empty() {
		k.Components = append(k.Components, overlayDir)
	}
	if g.adds || !o.empty() {
		k.Namespace = s.Namespace
	}
	for name, content := range o.files {
		files[path.Join(overlayDir, name)] = content
	}
	return files, files.put(kustomizationFile, s.ID, k)
}

// componentsOf returns the components for the pod of a job, in the order in which they
// build on each other.
func componentsOf(s api.Spec) []string {
	var names []string
	for _, c := range []struct {
		name string
		used bool
	}{
		{string(s.Accelerator.Kind), true},
		{string(api.BackendPathways), s.Pathways != nil},
		{archARM, s.Accelerator.Arch == archARM},
		{"rdma", s.Network == api.NetworkRDMA},
		{"tcpxo", s.Network == api.NetworkTCPXO},
		{"spot", s.Capacity.Kind == api.CapacitySpot},
		{"reservation", s.Capacity.Kind == api.CapacityReservation},
		{"flex-start", s.Capacity.Kind == api.CapacityFlexStart},
		{"compute-class", s.Capacity.Kind == api.CapacityClass},
		{"queue", s.Queue != ""},
		{"priority-class", s.PriorityClass != ""},
		{componentKey, s.StoreCredentials != ""},
		{"restricted", s.Restricted},
		{"debug", s.Debug},
		{"gcsfuse", mountsBuckets(s)},
		{"gcsfuse-autopilot", mountsBuckets(s) && isForAutopilot(s)},
	} {
		if c.used {
			names = append(names, path.Join(componentsDir, c.name))
		}
	}
	return names
}

// isForAutopilot reports whether a job uses what is meant for Autopilot. A job without that may
// run there, too.
func isForAutopilot(s api.Spec) bool {
	return s.AutopilotClass != "" || s.NodePools == api.NodePoolsShared
}

// putJob stores the parts that are specific to the job: its patch and its runner.
func (t tree) putJob(s api.Spec, p program, l lists, whole bool) error {
	patch, err := jobPatch(s, p, l)
	if err != nil {
		return err
	}
	var resources []string
	if whole {
		_, text, err := p.configMap(s)
		if err != nil {
			return err
		}
		t[path.Join(jobDir, runnerFile)] = text
		resources = []string{runnerFile}
	}
	return t.putComponent(jobDir, s.ID, []kindPatch{{jobKind, patchFile, patch}}, resources...)
}

// kindPatch is a patch for the objects of one kind, and the name of its file.
type kindPatch struct {
	gvk   resid.Gvk
	file  string
	steps patch
}

// putComponent stores a component of the job with this ID, with its patches.
func (t tree) putComponent(dir, id string, patches []kindPatch, resources ...string) error {
	k := types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.ComponentVersion, Kind: types.ComponentKind}, Resources: resources}
	for _, p := range patches {
		steps, err := p.steps.encode()
		if err != nil {
			return fmt.Errorf("writing %s of the kustomization: %w", p.file, err)
		}
		t[path.Join(dir, p.file)] = steps
		k.Patches = append(k.Patches, types.Patch{Path: p.file, Target: &types.Selector{ResId: resid.ResId{Gvk: p.gvk}}})
	}
	return t.put(path.Join(dir, kustomizationFile), id, k)
}

// put stores a document with a comment at its top, which names the job.
func (t tree) put(name, id string, v any) error {
	text, err := goyaml.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing %s of the kustomization: %w", name, err)
	}
	t[name] = append(fmt.Appendf(nil, header, id), text...)
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

// sha256 returns a hash of the names and contents of all files.
func (t tree) sha256() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(h, "%q %d\n%s", name, len(t[name]), t[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// with returns a copy of the tree in which one file differs.
func (t tree) with(name string, content []byte) tree {
	other := maps.Clone(t)
	other[name] = content
	return other
}
