package logs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/runner"
)

func TestRunnerPrintsTheEndLine(t *testing.T) {
	constant := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + ` = "(.*)"$`).FindSubmatch(runner.Source)
		if m == nil {
			t.Fatalf("the runner has no %s", name)
		}
		return string(m[1])
	}
	if got, want := EndLine("cpu-f"), strings.Replace(constant("END_LINE"), "{}", "cpu-f", 1); got != want {
		t.Errorf("got %q, the runner prints %q", got, want)
	}
	if got := constant("NO_LINE_END"); got != NoLineEnd {
		t.Errorf("got %q, the runner prints %q", NoLineEnd, got)
	}
}
