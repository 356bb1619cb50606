package jobs

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
)

// A wait that is over names also the jobs that can't be found.
func TestWaitThatTimesOutPrintsErrors(t *testing.T) {
	useSweep(t)
	code, out, said := kinetic(t, "wait", "cpu-a-1", "cpu-c-3", "--timeout", "300ms")
	const want = "job cpu-a-1 is still running\nerror: job \"cpu-c-3\" not found"
	if code != process.ExitTimeout || out != "" || len(said) < len(want) || said[:len(want)] != want {
		t.Errorf("exit code %d, printed %q, said %q; want %q", code, out, said, want)
	}
}
