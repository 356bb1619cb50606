package joblist

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestHost(t *testing.T) {
	now := metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for name, c := range map[string]struct {
		node    string
		state   corev1.ContainerState
		deleted *metav1.Time
		want    api.Host

		rejected string // what the node says
	}{
		"no node":       {want: api.Host{State: api.Pending, Message: "no node yet"}},
		"no image":      {node: "n", state: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}, want: api.Host{Node: "n", State: api.Pending, Message: "ImagePullBackOff"}},
		"a silent node": {node: "n", want: api.Host{Node: "n", State: api.Pending}},
		"running":       {node: "n", state: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, want: api.Host{Node: "n", State: api.Running}},
		"going":         {node: "n", state: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, deleted: &now, want: api.Host{Node: "n", State: api.Running, Message: "being deleted"}},
		"done":          {node: "n", state: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}, want: api.Host{Node: "n", State: api.Succeeded}},
		"killed":        {node: "n", state: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}}, want: api.Host{Node: "n", State: api.Failed, Message: "exit code 137"}},
		"rejected": {node: "n", rejected: "Pod was rejected: Allocate failed due to requested number of devices unavailable for google.com/tpu",
			want: api.Host{Node: "n", State: api.Failed, Message: "node n refused the pod: Allocate failed due to requested number of devices unavailable for google.com/tpu"}},
		"rejected without a word": {node: "n", want: api.Host{Node: "n", State: api.Failed, Message: "UnexpectedAdmissionError"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p-3", Labels: map[string]string{"leaderworkerset.sigs.k8s.io/worker-index": "3"}, DeletionTimestamp: c.deleted},
				Spec:   corev1.PodSpec{NodeName: c.node},
				Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "sidecar"}, {Name: api.ContainerName, State: c.state}}}}
			c.want.Host, c.want.Pod = 3, "p-3"
			if c.want.State == api.Failed { // a node says so later than its container, if that has begun
				p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "UnexpectedAdmissionError", c.rejected
			}
			if diff := gocmp.Diff(c.want, Host(p)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
