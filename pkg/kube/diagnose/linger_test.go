package diagnose

import (
	"strings"
	"testing"
	"time"

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
		after   int // seconds since the worker has ended
		want    string
		gone    bool          // no retry follows
		comes   time.Duration // LingersFor
	}{
		"Istio":                    {crashed(proxy("istio-proxy", running(1))), 2, 120, "exit code 139; container istio-proxy keeps its pod running, so no retry follows; use --label sidecar.istio.io/inject=false", true, 0},
		"Linkerd":                  {crashed(proxy("linkerd-proxy", running(1))), 2, 120, "exit code 139; container linkerd-proxy keeps its pod running, so no retry follows; use --annotation linkerd.io/inject=disabled", true, 0},
		"another":                  {crashed(proxy("agent", running(1))), 2, 500, "exit code 139; container agent keeps its pod running, so no retry follows", true, 0},
		"after the last retry":     {crashed(proxy("agent", running(1))), 0, 120, "exit code 139; container agent keeps its pod running, so the job does not end", true, 0},
		"it may just be ending":    {crashed(proxy("agent", running(1))), 2, 119, "exit code 139; retry 1 of 2 follows", false, time.Second},
		"it has ended":             {crashed(proxy("agent", terminated(0, "Completed", ""))), 2, 500, "exit code 139; retry 1 of 2 follows", false, 0},
		"an init container":        {native, 2, 500, "exit code 139; retry 1 of 2 follows", false, 0},
		"the pod is being deleted": {deleted, 2, 500, "its pod was deleted by someone else (exit code 139); retry 1 of 2 follows", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			j := job()
			j.Spec.BackoffLimit = &tt.retries
			o := Observation{Workload: workloadOf(j), Pods: []corev1.Pod{tt.pod}, Now: at(5 + tt.after).Time}
			got := o.Explain()
			if got.Sentence != tt.want || got.Unrecoverable != tt.gone || tt.gone != strings.HasPrefix(got.Next, "kubectl describe pod") {
				t.Errorf("got %+v, want %q", got, tt.want)
			}
			if comes := o.LingersFor(); comes != tt.comes {
				t.Errorf("it comes in %s, want %s", comes, tt.comes)
			}
			if s := o.Status(); s.State != api.Pending || s.Unrecoverable != tt.gone {
				t.Errorf("the job: %+v", s)
			}
		})
	}
}
