package kube

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestPartsAs(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	head := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x-0"}, Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: api.ContainerName}}}}
	head.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: api.Contract.Pathways.Manager, State: running},
		{Name: api.Contract.Pathways.Proxy, RestartCount: 2, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}
	worker := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x-0-2", Labels: map[string]string{api.LabelWorkerIndex: "2"}}, Spec: corev1.PodSpec{NodeName: "m", Containers: []corev1.Container{{Name: api.Contract.Pathways.Worker}}}}
	worker.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: api.Contract.Pathways.Worker, RestartCount: 1, State: running}}
	want := []api.Part{{Name: "rm", Pod: "x-0", Node: "n", State: api.Running}, {Name: "proxy", Pod: "x-0", Node: "n", State: api.Pending, Restarts: 2, Message: "CrashLoopBackOff"},
		{Name: "worker-1", Pod: "x-0-2", Node: "m", State: api.Running, Restarts: 1}}
	if diff := gocmp.Diff(want, append(partsAs(head), partsAs(worker)...)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
