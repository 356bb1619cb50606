package stack_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"google.golang.org/api/compute/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/up"
)

func TestUpCompletes(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0, "ready")
	for flag, want := range map[string]string{
		"--accelerator":  "v6e-8\t",
		"--zone":         "us-central1\nus-central1-a\n",
		"--machine-type": "e2-standard-8\n",
		"--profile-name": "research\tcluster research in us-central1-a of project acme\n",
	} {
		word := ""
		if flag == "--accelerator" {
			word = "v6e"
		}
		w.command(t.Context(), up.NewCommand, nil, []string{cobra.ShellCompRequestCmd, flag, word}).check(t, 0, want)
	}
	w.AddProject("host")
	for project, network := range map[string]string{"acme": "team", "host": "shared"} {
		w.AddNetwork(project, &compute.Network{Name: network})
		w.AddSubnet(project, "us-central1", network, &compute.Subnetwork{Name: network + "-jobs"})
	}
	for words, want := range map[string]string{
		"--network ": "kn-research\nteam\n:4", "--network team --subnetwork ": "team-jobs\n:4", "--network kn-research --subnetwork ": ":4",
		"--network projects/host/global/networks/shared --subnetwork ": "shared-jobs\n:4",
	} {
		if r := w.command(t.Context(), up.NewCommand, nil, append([]string{cobra.ShellCompRequestCmd}, strings.Split(words, " ")...)); strings.TrimSpace(r.out) != want {
			t.Errorf("%s: got %q, want %q", words, r.out, want)
		}
	}
	w.Expire()
	w.command(t.Context(), up.NewCommand, nil, []string{cobra.ShellCompRequestCmd, "--zone", ""}).check(t, 0, ":4")
}
