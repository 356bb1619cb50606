package manifests_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/manifests"
)

// build does what `kubectl kustomize DIR` does, and decodes strictly.
func build(t *testing.T, dir string) batchv1.Job {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	var job batchv1.Job
	if err := yaml.UnmarshalStrict(text, &job); err != nil {
		t.Fatal(err)
	}
	return job
}

func TestBaseBuildsAlone(t *testing.T) {
	job := build(t, "base/job")
	if job.Name != "kinetic" || len(job.Spec.Template.Spec.Containers) != 1 {
		t.Errorf("got job %q with %d containers", job.Name, len(job.Spec.Template.Spec.Containers))
	}
}

// Failures of nobody are ignored before the codes are looked at; then every
// code of the call is final, and none of the retryable ones is.
func TestPodFailurePolicy(t *testing.T) {
	rules := build(t, "base/job").Spec.PodFailurePolicy.Rules
	if len(rules) != 2 {
		t.Fatalf("got %d rules, want 2", len(rules))
	}
	disruption := rules[0]
	if disruption.Action != batchv1.PodFailurePolicyActionIgnore || disruption.OnPodConditions[0].Type != corev1.DisruptionTarget {
		t.Errorf("the first rule is %v", disruption)
	}
	final := rules[1]
	if final.Action != batchv1.PodFailurePolicyActionFailJob || final.OnExitCodes.Operator != batchv1.PodFailurePolicyOnExitCodesOpIn {
		t.Errorf("the second rule is %v", final)
	}
	if len(final.OnExitCodes.Values) != 124 {
		t.Errorf("got %d codes, want 124", len(final.OnExitCodes.Values))
	}
	for i, code := range final.OnExitCodes.Values {
		if code != int32(i+1) {
			t.Fatalf("code %d is %d", i, code)
		}
	}
}

func TestComponents(t *testing.T) {
	type want struct {
		platforms   string
		nodes       []string // keys of the node selector
		tolerations []string
		resource    string
		grace       int64
	}
	const gpuNodes, gpuTaint = "cloud.google.com/gke-accelerator", "nvidia.com/gpu"
	tpuNodes := []string{"cloud.google.com/gke-accelerator-count", "cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology"}
	const spot, arch, tpuTaint = "cloud.google.com/gke-spot", "kubernetes.io/arch", "google.com/tpu"
	for name, c := range map[string]want{
		"cpu":                        {platforms: "cpu", grace: 30},
		"cpu+spot":                   {platforms: "cpu", nodes: []string{spot}, tolerations: []string{spot}, grace: 15},
		"gpu":                        {platforms: "cuda,cpu", nodes: []string{gpuNodes}, tolerations: []string{gpuTaint}, resource: gpuTaint, grace: 30},
		"gpu+spot":                   {platforms: "cuda,cpu", nodes: []string{gpuNodes, spot}, tolerations: []string{gpuTaint, spot}, resource: gpuTaint, grace: 15},
		"gpu+arm64":                  {platforms: "cuda,cpu", nodes: []string{gpuNodes, arch}, tolerations: []string{gpuTaint, arch}, resource: gpuTaint, grace: 30},
		"gpu+arm64+spot":             {platforms: "cuda,cpu", nodes: []string{gpuNodes, arch, spot}, tolerations: []string{gpuTaint, arch, spot}, resource: gpuTaint, grace: 15},
		"cpu+store-credentials":      {platforms: "cpu", grace: 30},
		"tpu+spot+store-credentials": {platforms: "tpu,cpu", nodes: append(tpuNodes, spot), tolerations: []string{tpuTaint, spot}, resource: tpuTaint, grace: 15},
		"tpu":                        {platforms: "tpu,cpu", nodes: tpuNodes, tolerations: []string{tpuTaint}, resource: tpuTaint, grace: 30},
		"tpu+spot":                   {platforms: "tpu,cpu", nodes: append(tpuNodes, spot), tolerations: []string{tpuTaint, spot}, resource: tpuTaint, grace: 15},
	} {
		t.Run(name, func(t *testing.T) {
			job := build(t, filepath.Join("testdata", name))
			pod := job.Spec.Template.Spec
			worker := pod.Containers[0]
			if env := worker.Env[1]; env.Name != "JAX_PLATFORMS" || env.Value != c.platforms {
				t.Errorf("the second variable is %s=%s, want JAX_PLATFORMS=%s", env.Name, env.Value, c.platforms)
			}
			checkPlacement(t, pod, c.nodes, c.tolerations)
			checkChips(t, worker, corev1.ResourceName(c.resource))
			checkGrace(t, pod, c.grace)
		})
	}
}

func checkPlacement(t *testing.T, pod corev1.PodSpec, nodes, tolerations []string) {
	t.Helper()
	if len(pod.NodeSelector) != len(nodes) {
		t.Errorf("node selector: got %v, want keys %q", pod.NodeSelector, nodes)
	}
	for _, key := range nodes {
		if pod.NodeSelector[key] == "" {
			t.Errorf("node selector: no %s in %v", key, pod.NodeSelector)
		}
	}
	if len(pod.Tolerations) != len(tolerations) {
		t.Fatalf("tolerations: got %v, want keys %q", pod.Tolerations, tolerations)
	}
	for i, toleration := range pod.Tolerations {
		if toleration.Key != tolerations[i] || toleration.Effect != corev1.TaintEffectNoSchedule {
			t.Errorf("toleration %d: got %v, want key %s", i, toleration, tolerations[i])
		}
		// Equal without a value tolerates nothing.
		if (toleration.Operator == corev1.TolerationOpEqual) != (toleration.Value != "") {
			t.Errorf("toleration %s: operator %s with value %q", toleration.Key, toleration.Operator, toleration.Value)
		}
	}
}

// checkChips looks at the resource and at the shared memory that goes with it.
func checkChips(t *testing.T, worker corev1.Container, resource corev1.ResourceName) {
	t.Helper()
	shm := false
	for _, mount := range worker.VolumeMounts {
		shm = shm || mount.MountPath == "/dev/shm"
	}
	if shm != (resource != "") {
		t.Errorf("/dev/shm mounted: %v, with resource %q", shm, resource)
	}
	if resource == "" {
		if worker.Resources.Limits != nil || worker.Resources.Requests != nil {
			t.Errorf("resources: got %v, want none", worker.Resources)
		}
		return
	}
	limit, request := worker.Resources.Limits[resource], worker.Resources.Requests[resource]
	if limit.Value() != 1 || request.Value() != 1 {
		t.Errorf("%s: limit %v, request %v, want 1", resource, limit.Value(), request.Value())
	}
}

// checkGrace makes sure that the runner is done before its pod is killed.
func checkGrace(t *testing.T, pod corev1.PodSpec, want int64) {
	t.Helper()
	if *pod.TerminationGracePeriodSeconds != want {
		t.Errorf("grace period: got %d, want %d", *pod.TerminationGracePeriodSeconds, want)
	}
	args := pod.Containers[0].Args
	if len(args) != 2 || args[0] != "--grace" {
		t.Fatalf("args: got %q, want --grace SECONDS", args)
	}
	seconds, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil || seconds >= want || seconds < want-5 {
		t.Errorf("--grace %s leaves too much or too little of %d s", args[1], want)
	}
}

// The runner finds the key where the variable says.
func TestStoreCredentials(t *testing.T) {
	for _, name := range []string{"cpu+store-credentials", "tpu+spot+store-credentials"} {
		pod := build(t, filepath.Join("testdata", name)).Spec.Template.Spec
		volume, worker := pod.Volumes[len(pod.Volumes)-1], pod.Containers[0]
		mount, env := worker.VolumeMounts[len(worker.VolumeMounts)-1], worker.Env[len(worker.Env)-1]
		if volume.Secret == nil || mount.Name != volume.Name || !mount.ReadOnly {
			t.Errorf("%s: volume %v is mounted as %v", name, volume, mount)
		}
		if want := mount.MountPath + "/" + volume.Secret.Items[0].Path; env.Name != "GOOGLE_APPLICATION_CREDENTIALS" || env.Value != want {
			t.Errorf("%s: got %s=%s, want the path %s", name, env.Name, env.Value, want)
		}
	}
}

// Every component is embedded, and has a test above.
func TestEveryComponentIsTested(t *testing.T) {
	components, err := fs.ReadDir(manifests.FS, "components")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, component := range components {
		found := false
		for _, c := range cases {
			for _, part := range strings.Split(c.Name(), "+") {
				found = found || part == component.Name()
			}
		}
		if !found {
			t.Errorf("component %s has no case in testdata", component.Name())
		}
	}
}
