package cmd_test

import (
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/frontdoor"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/jobs"
)

// The front door, which links nothing of the other binaries, knows their commands.
func TestFrontDoorKnowsTheCommandsOfJobs(t *testing.T) {
	for _, sub := range jobs.NewCommand(genericiooptions.NewTestIOStreamsDiscard(), clock.RealClock{}).Commands() {
		if sub.Hidden || sub.Name() == "status" || sub.Name() == "top" { // which are commands of their own
			continue
		}
		var said strings.Builder
		frontdoor.Process{Args: []string{"kubectl-kinetic", sub.Name(), "x"}, Stdout: &said, Stderr: &said}.Run()
		if want := "did you mean kubectl kinetic jobs " + sub.Name() + "?"; !strings.Contains(said.String(), want) {
			t.Errorf("%s: got %q, want %q in it", sub.Name(), &said, want)
		}
	}
}
