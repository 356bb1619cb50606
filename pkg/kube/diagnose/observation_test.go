package diagnose

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// The TPU hosts of the Pathways runtime have its image, and may be there before the pod that runs the call.
func TestImageDigestIsThatOfTheCall(t *testing.T) {
	pod := func(container, image string) corev1.Pod {
		return corev1.Pod{
			Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: container}}},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: container, ImageID: image}}},
		}
	}
	host, call := pod(api.Contract.Pathways.Worker, "server@sha256:1"), pod(api.ContainerName, "python@sha256:2")
	if got := imageDigest([]corev1.Pod{host, call}); got != "sha256:2" {
		t.Errorf("got %q, want the call's", got)
	}
	if got := imageDigest([]corev1.Pod{host}); got != "" {
		t.Errorf("got %q before the call's is known", got)
	}
}
