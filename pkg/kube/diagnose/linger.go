package diagnose

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// lingerer returns the container that keeps a pod running although its worker has ended, "" if there is none;
// one that never ends by itself before others. Kubernetes ends sidecars that are init containers.
func lingerer(p corev1.Pod) (name string) {
	if WorkerOf(p).State.Terminated == nil || p.DeletionTimestamp != nil || p.Status.Phase != corev1.PodRunning {
		return ""
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Running != nil && withoutSidecar[name] == "" {
			name = c.Name
		}
	}
	return name
}

// afterLingerer says what a retry, or the end of a Job, waits for: it counts a pod when all of it has ended.
func afterLingerer(p corev1.Pod) string {
	name := lingerer(p)
	if name == "" {
		return ""
	}
	text := fmt.Sprintf(" once container %s has ended", name)
	if flag, known := withoutSidecar[name]; known {
		text += ", which it does not by itself: use " + flag
	}
	return text
}

// withoutSidecar are the flags of run with which the sidecars of service meshes do not come, by the names of containers
// that never end by themselves.
var withoutSidecar = map[string]string{
	"istio-proxy":   "--label sidecar.istio.io/inject=false",
	"linkerd-proxy": "--annotation linkerd.io/inject=disabled",
}
