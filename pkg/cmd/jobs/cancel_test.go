package jobs

import (
	"net/http/httptest"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
)

// It is an error if a job can't be cancelled and is not known to have ended: it may be running
// elsewhere.
func TestCancelOfAJobWithUnknownEnd(t *testing.T) {
	useBucket(t, map[string]string{"done-1/handle.json": aHandle})
	server := httptest.NewServer(&cluster{})
	t.Cleanup(server.Close)
	useCluster(t, server.URL)
	const want = "error: job done-1 has no workload here, and the store does not say how it ended; delete what is left of it with kubectl kinetic jobs cleanup done-1 -n ml\n"
	if code, out, said := kinetic(t, "cancel", "done-1"); code != process.ExitFailed || out != "" || said != want {
		t.Errorf("exit code %d, printed %q, said %q, want %q", code, out, said, want)
	}
}
