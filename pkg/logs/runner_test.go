package logs

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/records"
	"github.com/kubectl-kinetic/kinetic/runner/runnertest"
)

func TestRunnerWritesTheSameRecords(t *testing.T) {
	runnertest.Compare(t, map[string]string{
		"STDERR_MARK.decode()":     string(rune(stderrMark)),
		"STDOUT_MARK.decode()":     string(rune(stdoutMark)),
		"PIECE.decode()":           string(rune(pieceEnd)),
		"END_LINE.format('cpu-f')": records.EndLine("cpu-f"),
	}, "log")
	stamp := runnertest.Eval[string](t, "timestamp() + ' '", "log")
	if len(stamp) != len(stampForm) || !hasStamp([]byte(stamp)) {
		t.Errorf("the runner's stamp is %q, want the form of %q", stamp, stampForm)
	}
}
