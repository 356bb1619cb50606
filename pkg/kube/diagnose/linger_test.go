package diagnose

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// After a crash the Job waits until the whole pod has ended, which a sidecar that is no init container can prevent.
func TestAContainerThatOutlivesTheWorker(t *testing.T) {
	proxy := func(name string, state corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: state}
	}
	crashed := func(others ...corev1.ContainerStatus) corev1.Pod {
		p := pod("a", 1, terminated(139, "Error", ""))
		p.Status.Phase = corev1.PodRunning
		p.Status.ContainerStatuses = append(others, p.Status.ContainerStatuses[1])
		return p
	}
	native := crashed()
	native.Status.InitContainerStatuses = []corev1.ContainerStatus{proxy("istio-proxy", running(1))}
	deleted := crashed(proxy("istio-proxy", running(1)))
	deleted.DeletionTimestamp = new(metav1.Time)
	for name, tt := range map[string]struct {
		pod     corev1.Pod
		retries int32
		want    string
	}{
		"Istio":                    {crashed(proxy("istio-proxy", running(1))), 2, "exit code 139; retry 1 of 2 follows once container istio-proxy has ended, which it does not by itself: use --label sidecar.istio.io/inject=false"},
		"Istio and another":        {crashed(proxy("agent", running(1)), proxy("istio-proxy", running(1)), proxy("zzz", running(1))), 0, "exit code 139; the job ends once container istio-proxy has ended, which it does not by itself: use --label sidecar.istio.io/inject=false"},
		"another":                  {crashed(proxy("agent", running(1))), 2, "exit code 139; retry 1 of 2 follows once container agent has ended"},
		"after the last retry":     {crashed(proxy("istio-proxy", running(1))), 0, "exit code 139; the job ends once container istio-proxy has ended, which it does not by itself: use --label sidecar.istio.io/inject=false"},
		"it has ended":             {crashed(proxy("agent", terminated(0, "Completed", ""))), 2, "exit code 139; retry 1 of 2 follows"},
		"an init container":        {native, 2, "exit code 139; retry 1 of 2 follows"},
		"the pod is being deleted": {deleted, 2, "its pod was deleted by someone else (exit code 139); retry 1 of 2 follows"},
	} {
		t.Run(name, func(t *testing.T) {
			j := job()
			j.Spec.BackoffLimit = &tt.retries
			s := Observation{Workload: workloadOf(j), Pods: []corev1.Pod{tt.pod}, Now: at(5).Time}.Status()
			if s.Message != tt.want || s.State != api.Pending || s.Unrecoverable || s.Ending {
				t.Errorf("got %+v, want %q", s, tt.want)
			}
		})
	}
}
