package jobs

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
)

// It is an error if a job can't be cancelled and is not known to have ended: it may be running
// elsewhere.
func TestCancelOfAJobWithUnknownEnd(t *testing.T) {
	useBucket(t, map[string]string{"done-1/handle.json": aHandle})
	server := httptest.NewServer(&cluster{})
	t.Cleanup(server.Close)
	useCluster(t, server.URL)
	const want = "error: job done-1 has no workload here, and the store has no record of how it ended; delete its remains with kubectl kinetic jobs cleanup done-1 -n ml\n"
	if code, out, said := kinetic(t, "cancel", "done-1"); code != cli.ExitFailed || out != "" || said != want {
		t.Errorf("exit code %d, printed %q, said %q, want %q", code, out, said, want)
	}
}

// A job of which only outputs are left was cleaned up: cancel says so in the words of the other commands.
func TestCancelOfAJobThatWasCleanedUp(t *testing.T) {
	const id = "cpu-f-20261124-044737-4469bc2"
	useBucket(t, map[string]string{id + "/outputs/a": "content"})
	server := httptest.NewServer(&cluster{})
	t.Cleanup(server.Close)
	useCluster(t, server.URL)
	_, _, status := kinetic(t, "status", id)
	if code, _, said := kinetic(t, "cancel", id); code == cli.ExitDone || !strings.Contains(said, "job "+id+" was cleaned up; only its outputs are left") || said != status {
		t.Errorf("exit code %d, said %q, and status %q", code, said, status)
	}
}
