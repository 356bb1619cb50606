package logs

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/runner/runnertest"
)

func TestRunnerWritesTheSameStamps(t *testing.T) {
	stamp := runnertest.Eval[string](t, "timestamp() + ' '", "log")
	if len(stamp) != len(stampForm) || !hasStamp([]byte(stamp)) {
		t.Errorf("the runner's stamp is %q, want the form of %q", stamp, stampForm)
	}
}
