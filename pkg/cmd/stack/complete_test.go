package stack_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/up"
)

func TestUpCompletes(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0, "ready")
	for flag, want := range map[string]string{
		"--accelerator":  "v6e-8\t",
		"--machine-type": "e2-standard-8\n",
		"--profile-name": "research\tcluster research in us-central1-a of project acme\n",
	} {
		word := ""
		if flag == "--accelerator" {
			word = "v6e"
		}
		w.command(t.Context(), up.NewCommand, nil, []string{cobra.ShellCompRequestCmd, flag, word}).check(t, 0, want)
	}
}
