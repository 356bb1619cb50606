package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/runner"
)

// The port that the leader's probe looks at is the one that its runner listens on,
// and none that JAX, PyTorch or libtpu take.
func TestThePortOfTheLeader(t *testing.T) {
	s := family["lws-cpu-4hosts"]
	leader := mustPods(t, mustRender(t, s), s)["spec.leaderWorkerTemplate.leaderTemplate"]
	port := worker(leader.Spec).ReadinessProbe.TCPSocket.Port.IntValue()
	if line := fmt.Sprintf("\nGROUP_PORT = %d ", port); !strings.Contains(string(runner.Peers), line) {
		t.Errorf("the runner has no line %q", line)
	}
	for _, taken := range []int{8471, 8476, 8431, 8080, 8353, 29500} {
		if port == taken {
			t.Errorf("port %d is taken", port)
		}
	}
}
