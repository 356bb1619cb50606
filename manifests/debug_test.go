package manifests_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// The names and numbers are those that the client and the runner know.
func TestDebug(t *testing.T) {
	pod := build(t, "testdata/cpu+debug").pods[0]
	worker := pod.Containers[0]
	if want := []corev1.ContainerPort{{Name: "debugpy", ContainerPort: int32(api.Contract.Ports.Debug)}}; !slices.Equal(worker.Ports, want) {
		t.Errorf("ports: got %v, want %v", worker.Ports, want)
	}
	for _, want := range []corev1.EnvVar{{Name: api.EnvDebug, Value: "1"}, {Name: api.EnvBreakpoint, Value: api.Breakpoint}} {
		if !slices.Contains(worker.Env, want) {
			t.Errorf("env: no %v in %v", want, worker.Env)
		}
	}
	scratch := worker.VolumeMounts[slices.IndexFunc(worker.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "scratch" })]
	if scratch.MountPath+"/workspace" != api.PodWorkspace {
		t.Errorf("the workspace is below %s, want %s", scratch.MountPath, api.PodWorkspace)
	}
}
