package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// A program is only started where the call runs now.
func TestRunningPod(t *testing.T) {
	worker := pod("tpu-0", 3, running(4))
	worker.Spec.Containers[0].Name = api.Contract.Pathways.Worker
	worker.Status.ContainerStatuses[1].Name = api.Contract.Pathways.Worker
	tests := map[string]struct {
		pods []corev1.Pod
		host int
		want string
	}{
		"none":                     {nil, 0, ""},
		"it runs":                  {[]corev1.Pod{pod("a", 1, running(2))}, 0, "a"},
		"it waits":                 {[]corev1.Pod{pod("a", 1, waiting("ContainerCreating"))}, 0, ""},
		"the second attempt":       {[]corev1.Pod{pod("a", 1, terminated(137, "OOMKilled", "")), pod("b", 5, running(6))}, 0, "b"},
		"between two attempts":     {[]corev1.Pod{pod("a", 1, running(2)), pod("b", 5, waiting(""))}, 0, ""},
		"another host":             {[]corev1.Pod{indexed(0, running(2)), indexed(1, running(2))}, 1, "h1"},
		"a host that is not there": {[]corev1.Pod{indexed(0, running(2))}, 1, ""},
		"a TPU host of Pathways":   {[]corev1.Pod{worker}, 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := snapshot{pods: map[types.UID]*corev1.Pod{}}
			for i := range tt.pods {
				s.pods[tt.pods[i].UID] = &tt.pods[i]
			}
			if got := runningPod(s, tt.host).Name; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
