package render

import (
	"strconv"
	"testing"

	"github.com/kubectl-kinetic/kinetic/runner/runnertest"
)

// The port that the leader's probe looks at is the one that its runner listens on,
// and none that JAX, PyTorch or libtpu take.
func TestThePortOfTheLeader(t *testing.T) {
	s := family["lws-cpu-4hosts"]
	leader := mustPods(t, mustRender(t, s), s)["spec.leaderWorkerTemplate.leaderTemplate"]
	port := worker(leader.Spec).ReadinessProbe.TCPSocket.Port.IntValue()
	if want := runnertest.Constant(t, "GROUP_PORT"); strconv.Itoa(port) != want {
		t.Errorf("the probe looks at port %d, the runner listens on %s", port, want)
	}
	if port >= 8470 && port <= 8490 {
		t.Errorf("port %d is in the range that libtpu and JAX have theirs in", port)
	}
	for _, taken := range []int{8431, 8080, 8353, 29500} {
		if port == taken {
			t.Errorf("port %d is taken", port)
		}
	}
}
