package manifests_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/manifests"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/runner/runnertest"
)

// built is a Job or a LeaderWorkerSet, and what comes with it.
type built struct {
	job batchv1.Job
	set leaderWorkerSet
	// pods are the templates, a leader's first.
	pods    []corev1.PodSpec
	service corev1.Service
	role    rbacv1.Role
	binding rbacv1.RoleBinding
	claim   resourcev1.ResourceClaimTemplate
	policy  networkingv1.NetworkPolicy
}

// build does what `kubectl kustomize DIR` does, and decodes strictly.
func build(t *testing.T, dir string) built {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var w built
	decode := func(r *resource.Resource, into any) {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(text, into); err != nil {
			t.Fatalf("%s %s: %v", r.GetKind(), r.GetName(), err)
		}
	}
	for _, r := range resources.Resources() {
		switch r.GetKind() {
		case "Job":
			decode(r, &w.job)
			w.pods = append(w.pods, w.job.Spec.Template.Spec)
		case "LeaderWorkerSet":
			decode(r, &w.set)
			pods := w.set.Spec.LeaderWorkerTemplate
			w.pods = append(w.pods, pods.LeaderTemplate.Spec, pods.WorkerTemplate.Spec)
		case "Service":
			decode(r, &w.service)
		case "Role":
			decode(r, &w.role)
		case "RoleBinding":
			decode(r, &w.binding)
		case "ResourceClaimTemplate":
			decode(r, &w.claim)
		case "NetworkPolicy":
			decode(r, &w.policy)
		default:
			t.Errorf("a %s %s", r.GetKind(), r.GetName())
		}
	}
	return w
}

func TestBaseBuildsAlone(t *testing.T) {
	w := build(t, "base/job")
	if w.job.Name != "kinetic" || len(w.pods) != 1 || len(w.pods[0].Containers) != 1 {
		t.Errorf("got %q with pods %v", w.job.Name, w.pods)
	}
}

// Failures of no one are ignored before the codes are looked at. Then all codes
// are final but those of the runner, of crashes and of containers that could not
// be started or were lost.
func TestPodFailurePolicy(t *testing.T) {
	rules := build(t, "testdata/cpu").job.Spec.PodFailurePolicy.Rules
	if len(rules) != 2 {
		t.Fatalf("got %d rules, want 2", len(rules))
	}
	disruption := rules[0]
	if disruption.Action != batchv1.PodFailurePolicyActionIgnore || disruption.OnPodConditions[0].Type != corev1.DisruptionTarget {
		t.Errorf("the first rule is %v", disruption)
	}
	final := rules[1]
	if final.Action != batchv1.PodFailurePolicyActionFailJob || final.OnExitCodes.Operator != batchv1.PodFailurePolicyOnExitCodesOpNotIn {
		t.Errorf("the second rule is %v", final)
	}
	retried := final.OnExitCodes.Values
	if !slices.IsSorted(retried) || len(slices.Compact(slices.Clone(retried))) != len(retried) {
		t.Errorf("Kubernetes wants these sorted, each once: %v", retried)
	}
	for code := int32(1); code <= api.Contract.Exits.Deadline; code++ {
		if slices.Contains(retried, code) {
			t.Errorf("%d, which is the call's, is retried", code)
		}
	}
	retryable := runnertest.Eval[[]int32](t, "RETRYABLE", "outcome")
	for _, code := range append(retryable, 128+6, 128+8, 128+9, 128+11, 128+15) {
		if !slices.Contains(retried, code) {
			t.Errorf("%d is not retried", code)
		}
	}
}

func TestRetryOnError(t *testing.T) {
	rules := build(t, "testdata/cpu+retry-on-error").job.Spec.PodFailurePolicy.Rules
	if len(rules) != 2 || rules[0].Action != batchv1.PodFailurePolicyActionIgnore || rules[1].Action != batchv1.PodFailurePolicyActionFailJob {
		t.Fatalf("got %v, want disruptions ignored, and one final rule", rules)
	}
	codes, want := rules[1].OnExitCodes, []int32{api.Contract.Exits.Deadline}
	if codes.Operator != batchv1.PodFailurePolicyOnExitCodesOpIn || !slices.Equal(codes.Values, want) {
		t.Errorf("got %v, want only a call that ran out of time to be final", codes)
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
	const flex, reserved, class = "cloud.google.com/gke-flex-start", "cloud.google.com/reservation-name", "cloud.google.com/compute-class"
	const spot, arch, tpuTaint, queued = "cloud.google.com/gke-spot", "kubernetes.io/arch", "google.com/tpu", "cloud.google.com/gke-queued"
	for name, c := range map[string]want{
		"cpu":                                 {platforms: "cpu", grace: 30},
		"cpu+spot":                            {platforms: "cpu", nodes: []string{spot}, tolerations: []string{spot}, grace: 15},
		"gpu":                                 {platforms: "cuda,cpu", nodes: []string{gpuNodes}, tolerations: []string{gpuTaint}, resource: gpuTaint, grace: 30},
		"gpu+spot":                            {platforms: "cuda,cpu", nodes: []string{gpuNodes, spot}, tolerations: []string{gpuTaint, spot}, resource: gpuTaint, grace: 15},
		"gpu+arm64":                           {platforms: "cuda,cpu", nodes: []string{gpuNodes, arch}, tolerations: []string{gpuTaint, arch}, resource: gpuTaint, grace: 30},
		"gpu+arm64+spot":                      {platforms: "cuda,cpu", nodes: []string{gpuNodes, arch, spot}, tolerations: []string{gpuTaint, arch, spot}, resource: gpuTaint, grace: 15},
		"cpu+store-credentials":               {platforms: "cpu", grace: 30},
		"cpu+queue+priority-class":            {platforms: "cpu", grace: 30},
		"cpu+reservation":                     {platforms: "cpu", nodes: []string{reserved}, grace: 30},
		"tpu+reservation":                     {platforms: "tpu,cpu", nodes: append(tpuNodes, reserved), tolerations: []string{tpuTaint}, resource: tpuTaint, grace: 30},
		"cpu+flex-start":                      {platforms: "cpu", nodes: []string{flex}, grace: 30},
		"gpu+flex-start":                      {platforms: "cuda,cpu", nodes: []string{gpuNodes, flex}, tolerations: []string{gpuTaint}, resource: gpuTaint, grace: 30},
		"cpu+compute-class":                   {platforms: "cpu", nodes: []string{class}, grace: 30},
		"tpu+compute-class":                   {platforms: "tpu,cpu", nodes: []string{class}, tolerations: []string{tpuTaint}, resource: tpuTaint, grace: 30},
		"cpu+gcsfuse":                         {platforms: "cpu", grace: 30},
		"cpu+gcsfuse+gcsfuse-autopilot":       {platforms: "cpu", grace: 30},
		"tpu+gcsfuse+leaderworkerset":         {platforms: "tpu,cpu", nodes: tpuNodes, tolerations: []string{tpuTaint}, resource: tpuTaint, grace: 30},
		"cpu+restricted":                      {platforms: "cpu", grace: 30},
		"gpu+spot+restricted+leaderworkerset": {platforms: "cuda,cpu", nodes: []string{gpuNodes, spot}, tolerations: []string{gpuTaint, spot}, resource: gpuTaint, grace: 15},
		"cpu+indexedjob":                      {platforms: "cpu", grace: 30},
		"cpu+map":                             {platforms: "cpu", grace: 30},
		"cpu+retry-on-error":                  {platforms: "cpu", grace: 30},
		"gpu+indexedjob":                      {platforms: "cuda,cpu", nodes: []string{gpuNodes}, tolerations: []string{gpuTaint}, resource: gpuTaint, grace: 30},
		"gpu+rdma+indexedjob":                 {platforms: "cuda,cpu", nodes: []string{gpuNodes}, tolerations: []string{gpuTaint}, resource: gpuTaint, grace: 30},
		"gpu+rdma+leaderworkerset":            {platforms: "cuda,cpu", nodes: []string{gpuNodes}, tolerations: []string{gpuTaint}, resource: gpuTaint, grace: 30},
		"gpu+tcpxo+indexedjob":                {platforms: "cuda,cpu", nodes: []string{gpuNodes}, tolerations: []string{gpuTaint}, resource: gpuTaint, grace: 30},
		"gpu+tcpxo+leaderworkerset":           {platforms: "cuda,cpu", nodes: []string{gpuNodes}, tolerations: []string{gpuTaint}, resource: gpuTaint, grace: 30},
		"tpu+indexedjob":                      {platforms: "tpu,cpu", nodes: tpuNodes, tolerations: []string{tpuTaint}, resource: tpuTaint, grace: 30},
		"cpu+leaderworkerset+references":      {platforms: "cpu", grace: 30},
		"cpu+leaderworkerset":                 {platforms: "cpu", grace: 30},
		"gpu+leaderworkerset":                 {platforms: "cuda,cpu", nodes: []string{gpuNodes}, tolerations: []string{gpuTaint}, resource: gpuTaint, grace: 30},
		"tpu+spot+leaderworkerset":            {platforms: "tpu,cpu", nodes: append(tpuNodes, spot), tolerations: []string{tpuTaint, spot}, resource: tpuTaint, grace: 15},
		"tpu+leaderworkerset":                 {platforms: "tpu,cpu", nodes: tpuNodes, tolerations: []string{tpuTaint}, resource: tpuTaint, grace: 30},
		"tpu+spot+leaderworkerset+slices":     {platforms: "tpu,cpu", nodes: append(tpuNodes, spot), tolerations: []string{tpuTaint, spot}, resource: tpuTaint, grace: 15},
		"tpu+queue+priority-class+store-credentials+leaderworkerset": {platforms: "tpu,cpu", nodes: tpuNodes, tolerations: []string{tpuTaint, queued}, resource: tpuTaint, grace: 30},
		"tpu+spot+store-credentials":                                 {platforms: "tpu,cpu", nodes: append(tpuNodes, spot), tolerations: []string{tpuTaint, spot}, resource: tpuTaint, grace: 15},
		"tpu":                                                        {platforms: "tpu,cpu", nodes: tpuNodes, tolerations: []string{tpuTaint}, resource: tpuTaint, grace: 30},
		"tpu+spot":                                                   {platforms: "tpu,cpu", nodes: append(tpuNodes, spot), tolerations: []string{tpuTaint, spot}, resource: tpuTaint, grace: 15},
	} {
		t.Run(name, func(t *testing.T) {
			for _, pod := range build(t, filepath.Join("testdata", name)).pods {
				worker := pod.Containers[0]
				if !slices.Contains(worker.Env, corev1.EnvVar{Name: "JAX_PLATFORMS", Value: c.platforms}) {
					t.Errorf("no JAX_PLATFORMS=%s in %v", c.platforms, worker.Env)
				}
				checkPlacement(t, pod, c.nodes, c.tolerations)
				checkChips(t, worker, corev1.ResourceName(c.resource))
				checkGrace(t, pod, c.grace)
			}
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
	if len(args) < 2 || args[0] != "--grace" {
		t.Fatalf("args: got %q, want --grace SECONDS", args)
	}
	seconds, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil || seconds >= want || seconds < want-5 {
		t.Errorf("--grace %s leaves too much or too little of %d s", args[1], want)
	}
}

// A spot pod does not ask to be kept: Autopilot would make no spot node for it.
func TestSafeToEvict(t *testing.T) {
	for name, want := range map[string]string{"cpu": "false", "gpu": "false", "tpu": "false", "cpu+spot": "", "gpu+spot": "", "tpu+spot": ""} {
		pod := build(t, filepath.Join("testdata", name)).job.Spec.Template
		if got := pod.Annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"]; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// GKE adds the sidecar to pods with these annotations, of a set too. 0 means no limit,
// which Autopilot refuses.
func TestGcsfuse(t *testing.T) {
	standard := map[string]string{"volumes": "true", "cpu-request": "250m", "cpu-limit": "0", "memory-request": "512Mi", "memory-limit": "0", "ephemeral-storage-limit": "0"}
	set := build(t, "testdata/tpu+gcsfuse+leaderworkerset").set.Spec.LeaderWorkerTemplate
	for name, c := range map[string]struct {
		pod  corev1.PodTemplateSpec
		want map[string]string
	}{
		"a Job":     {build(t, "testdata/cpu+gcsfuse").job.Spec.Template, standard},
		"a leader":  {set.LeaderTemplate, standard},
		"a worker":  {set.WorkerTemplate, standard},
		"Autopilot": {build(t, "testdata/cpu+gcsfuse+gcsfuse-autopilot").job.Spec.Template, map[string]string{"volumes": "true", "cpu-limit": "1", "memory-limit": "2Gi", "ephemeral-storage-limit": "5Gi"}},
	} {
		got := map[string]string{}
		for key, value := range c.pod.Annotations {
			if name, ok := strings.CutPrefix(key, "gke-gcsfuse/"); ok {
				got[name] = value
			}
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// The PodSecurity level restricted asks for all of this.
func TestRestricted(t *testing.T) {
	for _, name := range []string{"cpu+restricted", "gpu+spot+restricted+leaderworkerset"} {
		for _, pod := range build(t, filepath.Join("testdata", name)).pods {
			all, one := pod.SecurityContext, pod.Containers[0].SecurityContext
			if !*all.RunAsNonRoot || *all.RunAsUser == 0 || *all.RunAsGroup == 0 || *all.FSGroup != *all.RunAsGroup ||
				all.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("%s: pod: %v", name, all)
			}
			if *one.AllowPrivilegeEscalation || !slices.Equal(one.Capabilities.Drop, []corev1.Capability{"ALL"}) || one.Capabilities.Add != nil {
				t.Errorf("%s: container: %v", name, one)
			}
		}
	}
}

// The runner and Google's libraries find the key where it is mounted.
func TestStoreCredentials(t *testing.T) {
	for _, name := range []string{"cpu+store-credentials", "tpu+spot+store-credentials"} {
		pod := build(t, filepath.Join("testdata", name)).pods[0]
		volume, worker := pod.Volumes[len(pod.Volumes)-1], pod.Containers[0]
		mount, env := worker.VolumeMounts[len(worker.VolumeMounts)-1], worker.Env[len(worker.Env)-1]
		if volume.Secret == nil || mount.Name != volume.Name || !mount.ReadOnly {
			t.Errorf("%s: volume %v is mounted as %v", name, volume, mount)
		}
		want := mount.MountPath + "/" + volume.Secret.Items[0].Path
		if env.Name != "GOOGLE_APPLICATION_CREDENTIALS" || env.Value != want {
			t.Errorf("%s: got %s=%s, want the path %s", name, env.Name, env.Value, want)
		}
		if args := worker.Args[2:]; !slices.Equal(args, []string{"--credentials", want}) {
			t.Errorf("%s: got the arguments %q, want --credentials %s", name, args, want)
		}
	}
}

// What is put on top finds the pods of a set.
func TestReferences(t *testing.T) {
	group := build(t, "testdata/cpu+leaderworkerset+references").set.Spec.LeaderWorkerTemplate
	for _, pod := range []corev1.PodTemplateSpec{group.LeaderTemplate, group.WorkerTemplate} {
		if pod.Labels["team"] != "vision" {
			t.Errorf("the label is not among %v", pod.Labels)
		}
	}
}

// Each chunk of a map fails by itself, and a call's own exit code is final.
func TestMap(t *testing.T) {
	s := build(t, "testdata/cpu+map").job.Spec
	if *s.CompletionMode != batchv1.IndexedCompletion || *s.Completions != 2 || *s.Parallelism != 2 || s.BackoffLimit != nil ||
		*s.BackoffLimitPerIndex != 0 || *s.MaxFailedIndexes != 2 {
		t.Errorf("got %+v", s)
	}
	rules := s.PodFailurePolicy.Rules
	if len(rules) != 2 || rules[0].Action != batchv1.PodFailurePolicyActionIgnore || rules[1].Action != batchv1.PodFailurePolicyActionFailIndex {
		t.Errorf("rules %+v", rules)
	}
}

func TestQueueAndPriority(t *testing.T) {
	job := build(t, "testdata/cpu+queue+priority-class")
	set := build(t, "testdata/tpu+queue+priority-class+store-credentials+leaderworkerset")
	for _, labels := range []map[string]string{job.job.Labels, set.set.Labels} {
		if labels["kueue.x-k8s.io/queue-name"] != "kinetic" {
			t.Errorf("no queue in %v", labels)
		}
	}
	for _, pod := range append(job.pods, set.pods...) {
		if pod.PriorityClassName != "kinetic" {
			t.Errorf("the priority class is %q", pod.PriorityClassName)
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
