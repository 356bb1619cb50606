package cmd_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/frontdoor"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
)

const referenceFile = "../../docs/reference.md"

// TestReference holds docs/reference.md to what the commands say of themselves.
func TestReference(t *testing.T) {
	t.Setenv("HOME", "/home/you") // kubectl's flags have defaults below it
	var doc strings.Builder
	doc.WriteString("# Reference\n\nWhat `--help` prints; for `run`, what `--help=all` prints. Written by `go test ./pkg/cmd -run TestReference -update`.\n")
	streams := genericiooptions.NewTestIOStreamsDiscard()
	section := func(command, help string) { fmt.Fprintf(&doc, "\n## %s\n\n```text\n%s```\n", command, help) }
	for _, root := range roots(streams) {
		for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
			if !c.Hidden {
				section(c.CommandPath(), help(t, root, c))
			}
		}
	}
	section("kubectl kinetic version", frontDoorHelp(t, "version"))
	golden.Check(t, referenceFile, doc.String())
}

// help is what a command prints, and holds that it says how users call it.
func help(t *testing.T, root, c *cobra.Command) string {
	t.Helper()
	var out bytes.Buffer
	args := []string{"--help"}
	if c.Name() == "run" {
		args = []string{"--help=all"} // --help is abridged
	}
	if c != root {
		args = []string{c.Name(), "--help"}
	}
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}
	if code := cli.Run(t.Context(), root, args, streams); code != 0 {
		t.Fatalf("%s --help: exit code %d\n%s", c.CommandPath(), code, &out)
	}
	if strings.Contains(out.String(), "kubectl-kinetic_") {
		t.Errorf("%s --help names a file, not a command", c.CommandPath())
	}
	if !strings.Contains(out.String(), "  kubectl kinetic ") {
		t.Errorf("%s --help has no example or usage line with kubectl kinetic", c.CommandPath())
	}
	return out.String()
}

// frontDoorHelp is what a command of the front door prints.
func frontDoorHelp(t *testing.T, command string) string {
	t.Helper()
	var out, said bytes.Buffer
	p := frontdoor.Process{Args: []string{"kubectl-kinetic", command, "--help"}, Stdout: &out, Stderr: &said}
	if code := p.Run(); code != 0 {
		t.Fatalf("%s --help: exit code %d\n%s", command, code, &said)
	}
	return out.String()
}
