package config

import (
	"os"
	"strings"
)

// InPod is the origin of a context in a pod without a kubeconfig: the cluster is the
// pod's own, and Target.Context is empty.
const InPod = "in-cluster configuration"

// podNamespaceFile is where Kubernetes writes a pod's namespace.
const podNamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// inPod reports whether this is a pod that can reach its own cluster.
func inPod(env func(string) string) bool {
	return env("KUBERNETES_SERVICE_HOST") != "" && env("KUBERNETES_SERVICE_PORT") != ""
}

// podNamespace returns the namespace of the pod that this runs in, as client-go finds it.
func podNamespace(env func(string) string, file string) setting {
	data, _ := os.ReadFile(file) // without the file, the default applies
	return first(setting{env("POD_NAMESPACE"), "POD_NAMESPACE"}, setting{strings.TrimSpace(string(data)), InPod})
}
