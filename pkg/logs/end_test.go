package logs

import (
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/runner/runnertest"
)

func TestRunnerPrintsTheEndLine(t *testing.T) {
	if got, want := strconv.Quote(EndLine("cpu-f")), strings.Replace(runnertest.Constant(t, "END_LINE"), "{}", "cpu-f", 1); got != want {
		t.Errorf("got %s, the runner prints %s", got, want)
	}
}
