package manifests_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// templates returns the pod templates, and what the workload is called.
func (w built) templates() ([]corev1.PodTemplateSpec, metav1.ObjectMeta) {
	if w.job.Name != "" {
		return []corev1.PodTemplateSpec{w.job.Spec.Template}, w.job.ObjectMeta
	}
	group := w.set.Spec.LeaderWorkerTemplate
	return []corev1.PodTemplateSpec{group.LeaderTemplate, group.WorkerTemplate}, w.set.ObjectMeta
}

func env(c corev1.Container, name string) string {
	i := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name })
	if i < 0 {
		return ""
	}
	return c.Env[i].Value
}

// mounts maps the paths in a container to those on the node.
func mounts(pod corev1.PodSpec, c corev1.Container) map[string]string {
	found := map[string]string{}
	for _, m := range c.VolumeMounts {
		i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
		if i >= 0 && pod.Volumes[i].HostPath != nil {
			found[m.MountPath] = pod.Volumes[i].HostPath.Path
		}
	}
	return found
}

// Every host claims all RDMA cards of its node, and finds gIB where the runner looks for it.
func TestRDMA(t *testing.T) {
	for _, name := range []string{"gpu+rdma+indexedjob", "gpu+rdma+leaderworkerset"} {
		w := build(t, filepath.Join("testdata", name))
		templates, workload := w.templates()
		request := w.claim.Spec.Spec.Devices.Requests[0].Exactly
		if request.DeviceClassName != "mrdma.google.com" || request.AllocationMode != resourcev1.DeviceAllocationModeAll {
			t.Errorf("%s: the template asks for %+v", name, request)
		}
		if w.claim.Name != workload.Name || w.claim.Labels["app"] != templates[0].Labels["app"] {
			t.Errorf("%s: the template %s %v doesn't belong to %s", name, w.claim.Name, w.claim.Labels, workload.Name)
		}
		for _, pod := range templates {
			claims, worker := pod.Spec.ResourceClaims, pod.Spec.Containers[0]
			if len(claims) != 1 || *claims[0].ResourceClaimTemplateName != w.claim.Name || !slices.Equal(worker.Resources.Claims, []corev1.ResourceClaim{{Name: claims[0].Name}}) {
				t.Errorf("%s: the pod claims %v, its container %v", name, claims, worker.Resources.Claims)
			}
			if env(worker, api.EnvNetwork) != "rdma" || mounts(pod.Spec, worker)["/usr/local/gib"] != "/home/kubernetes/bin/gib" {
				t.Errorf("%s: network %q, mounts %v", name, env(worker, api.EnvNetwork), mounts(pod.Spec, worker))
			}
		}
	}
}

// The daemon runs beside the call, ends with it, and has the devices and the interfaces that its
// variables name.
func TestTCPXO(t *testing.T) {
	for _, name := range []string{"gpu+tcpxo+indexedjob", "gpu+tcpxo+leaderworkerset"} {
		w := build(t, filepath.Join("testdata", name))
		templates, _ := w.templates()
		for _, pod := range templates {
			daemon, worker := pod.Spec.InitContainers[0], pod.Spec.Containers[0]
			if daemon.RestartPolicy == nil || *daemon.RestartPolicy != corev1.ContainerRestartPolicyAlways || !strings.Contains(daemon.Image, ":v") || len(pod.Spec.Containers) != 1 {
				t.Errorf("%s: the daemon is %s with restartPolicy %v", name, daemon.Image, daemon.RestartPolicy)
			}
			checkInterfaces(t, pod, worker)
			var devices []struct{ Path string }
			if err := yaml.UnmarshalStrict([]byte(pod.Annotations["devices.gke.io/container."+daemon.Name]), &devices); err != nil || len(devices) != 11 {
				t.Errorf("%s: devices %v, %v", name, devices, err)
			}
			for path, want := range map[string]string{"/usr/local/nvidia": "/home/kubernetes/bin/nvidia", "/hostsysfs": "/sys", "/hostprocsysfs": "/proc/sys"} {
				if got := mounts(pod.Spec, daemon)[path]; got != want {
					t.Errorf("%s: the daemon has %q at %s, want %s", name, got, path, want)
				}
			}
			if dir := env(worker, "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY"); dir == "" || mounts(pod.Spec, worker)[dir] != "/dev/aperture_devices" || env(worker, api.EnvNetwork) != "tcpxo" {
				t.Errorf("%s: devices in %q, mounts %v, network %q", name, dir, mounts(pod.Spec, worker), env(worker, api.EnvNetwork))
			}
		}
	}
}

// checkInterfaces checks that NCCL uses the interfaces that the pod gets.
func checkInterfaces(t *testing.T, pod corev1.PodTemplateSpec, worker corev1.Container) {
	t.Helper()
	var found []struct{ InterfaceName, Network string }
	if err := json.Unmarshal([]byte(pod.Annotations["networking.gke.io/interfaces"]), &found); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range found {
		names = append(names, f.InterfaceName)
	}
	own := pod.Annotations["networking.gke.io/default-interface"]
	if len(found) != 9 || names[0] != own || found[0].Network != "default" || env(worker, "NCCL_FASTRAK_IFNAME") != strings.Join(names[1:], ",") ||
		env(worker, "NCCL_FASTRAK_CTRL_DEV") != own || env(worker, "NCCL_SOCKET_IFNAME") != own {
		t.Errorf("the interfaces are %v, and NCCL's variables %v", found, worker.Env)
	}
}
