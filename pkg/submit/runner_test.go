package submit

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/runner/runnertest"
)

// Every variable of the runner is known here. The user may set those of the debugger.
func TestRunnerHasTheseVariables(t *testing.T) {
	want := append(slices.Clone(runnerVariables()), api.EnvDataPrefix, api.EnvDebug, api.EnvDebugPort, "KINETIC_DEBUG_WAIT_TIMEOUT")
	slices.Sort(want)
	if diff := cmp.Diff(want, runnertest.Words(t, `\bKINETIC_[A-Z_]+\b`)); diff != "" {
		t.Errorf("variables (-want +the runner's):\n%s", diff)
	}
}
