package run

import (
	"bytes"
	"regexp"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
)

// TestHelpFitsTwoScreens: --help has no more lines, and each common flag is there under its name.
func TestHelpFitsTwoScreens(t *testing.T) {
	const screens = 2 * 50
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out}
	if code := cli.Run(t.Context(), NewCommand(streams, clock.RealClock{}), []string{"--help"}, streams); code != 0 {
		t.Fatalf("exit code %d: %s", code, &out)
	}
	if lines := bytes.Count(out.Bytes(), []byte("\n")); lines > screens {
		t.Errorf("%d lines", lines)
	}
	for _, name := range commonFlags() {
		if !regexp.MustCompile("--" + name + "[ =[]").Match(out.Bytes()) {
			t.Errorf("--%s is missing", name)
		}
	}
}
