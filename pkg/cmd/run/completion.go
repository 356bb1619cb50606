package run

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// completePlacement adds the completions of addPlacement's flags to a section.
func completePlacement(s cli.Section) {
	s.Completions["accelerator"] = cli.CompleteInOrder(accelerator.Complete)
	s.Offer("backend", "auto\tby the number of hosts", "gke\ta Job", "lws\ta LeaderWorkerSet", "pathways\tone process, all chips", "local\ta process on this machine")
	s.Offer("compute-class", "Accelerator", "Balanced", "Performance", "Scale-Out")
	s.Offer("network", networks()...)
	s.Offer("slice-node-pool", nodePools()...)
	s.Offer("retry-on", retryOns()...)
	s.Offer("hang-action", hangActions()...)
	s.Offer("processes-per-host", api.ProcessesAuto)
}

// completeVariables offers the names of environment variables.
func completeVariables(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	if strings.Contains(word, "=") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, word) {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeJobs offers the jobs where the new one goes.
func (f *flags) completeJobs(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	registry := func() (job.Registry, error) { return f.jobs(f.local) }
	return backend.CompleteIDs(c.Context(), job.Beginning{Prefix: word}, registry), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeMaps offers the maps that have ended, whose values can be reused.
func (f *flags) completeMaps(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	registry := func() (job.Registry, error) { return f.jobs(false) }
	return backend.CompleteIDs(c.Context(), job.Beginning{Prefix: word, Maps: true}, registry), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
