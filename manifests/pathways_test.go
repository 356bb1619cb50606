package manifests_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// The runtime has what all of Google's published manifests have: xpk, cluster-toolkit, pathways-utils, pathways-job, axlearn,
// pathways-cli, tunix and the tutorial with a LeaderWorkerSet.
func TestPathways(t *testing.T) {
	w := build(t, "testdata/tpu+pathways+leaderworkerset+pathways-runtime+pathways-network")
	leader, worker := w.pods[0], w.pods[1]
	if len(leader.Containers) != 1 || len(leader.InitContainers) != 2 || len(worker.Containers) != 1 || len(worker.InitContainers) != 0 {
		t.Fatalf("the leader has %d containers and %d sidecars, the worker %d and %d", len(leader.Containers), len(leader.InitContainers), len(worker.Containers), len(worker.InitContainers))
	}
	call, manager, proxy, tpu := leader.Containers[0], leader.InitContainers[0], leader.InitContainers[1], worker.Containers[0]
	for _, c := range []struct {
		container  corev1.Container
		name, args string
		env        map[string]string
	}{
		{call, api.ContainerName, "", map[string]string{"JAX_PLATFORMS": "proxy,cpu", "JAX_BACKEND_TARGET": "grpc://127.0.0.1:29000", "XCLOUD_ENVIRONMENT": "GCP",
			"ENABLE_PATHWAYS_PERSISTENCE": "1", "IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS": "true",
			"IFRT_PROXY_LARGE_TRANSFER_THRESHOLD": "1", "IFRT_PROXY_LARGE_TRANSFER_OPTIMIZATION_DIRECTORY": "/dev/shm"}},
		{manager, api.Contract.Pathways.Manager, "--server_port=29001 --node_type=resource_manager --instance_count=1", map[string]string{"TPU_SKIP_MDS_QUERY": "true", "HOST_ADDRESS": "$(LWS_LEADER_ADDRESS)"}},
		{proxy, api.Contract.Pathways.Proxy, "--server_port=29000 --resource_manager_address=127.0.0.1:29001", map[string]string{"IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS": "true",
			"IFRT_PROXY_LARGE_TRANSFER_OPTIMIZATION_DIRECTORY": "/dev/shm"}},
		{tpu, api.Contract.Pathways.Worker, "--server_port=29005 --resource_manager_address=$(LWS_LEADER_ADDRESS):29001", map[string]string{"XCLOUD_ENVIRONMENT": "GCP"}},
	} {
		if c.container.Name != c.name || !strings.HasPrefix(strings.Join(c.container.Args, " "), c.args) {
			t.Errorf("got the container %s with %q, want %s with %s", c.container.Name, c.container.Args, c.name, c.args)
		}
		for name, value := range c.env {
			if !slices.Contains(c.container.Env, corev1.EnvVar{Name: name, Value: value}) {
				t.Errorf("%s: no %s=%s", c.name, name, value)
			}
		}
		if s := c.container.SecurityContext; s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.Privileged != nil {
			t.Errorf("%s: got %+v", c.name, s)
		}
		_, chips := c.container.Resources.Requests["google.com/tpu"]
		if chips != (c.name == api.Contract.Pathways.Worker) {
			t.Errorf("%s: asks for chips: %t", c.name, chips)
		}
	}
	cpus, gib := int64(0), int64(0)
	for _, sidecar := range leader.InitContainers {
		cpus += sidecar.Resources.Requests.Cpu().Value()
		gib += sidecar.Resources.Requests.Memory().Value() >> 30
		if sidecar.RestartPolicy == nil || *sidecar.RestartPolicy != corev1.ContainerRestartPolicyAlways || sidecar.StartupProbe == nil {
			t.Errorf("%s is no sidecar that the next container waits for", sidecar.Name)
		}
		if sidecar.Resources.Limits.Memory().Cmp(*sidecar.Resources.Requests.Memory()) <= 0 {
			t.Errorf("%s requests all that it may use", sidecar.Name)
		}
	}
	if cpus != api.PathwaysCPUs || gib != api.PathwaysGiB {
		t.Errorf("the sidecars request %d CPUs and %dGi, and package api says %d and %d", cpus, gib, api.PathwaysCPUs, api.PathwaysGiB)
	}
	for _, pod := range w.pods {
		if pod.HostNetwork || pod.SecurityContext.SeccompProfile == nil || slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil }) {
			t.Errorf("a pod of %s uses what is the node's", pod.Containers[0].Name)
		}
	}
	if len(worker.Volumes) != 0 || *worker.AutomountServiceAccountToken {
		t.Errorf("the worker has volumes %v, or a token", worker.Volumes)
	}
	if w.policy.Spec.PodSelector.MatchLabels[api.LabelJobID] == "" || w.policy.Name != w.set.Name {
		t.Errorf("the policy %s selects %v", w.policy.Name, w.policy.Spec.PodSelector)
	}
}
