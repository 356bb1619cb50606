package run

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// completions returns the completions of flag values.
func completions() map[string]cobra.CompletionFunc {
	fixed := func(values ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	return map[string]cobra.CompletionFunc{
		"accelerator": completeAccelerator,
		"backend":     fixed("auto", "gke", "pathways", "local"),
		"dry-run":     fixed("none", "client", "server"),
		"output":      fixed("yaml", "json", "name"),
		"retry-on":    fixed(retryOns()...),
	}
}

// completeAccelerator offers shapes in the spelling that the user began, with or without
// tpu- and gpu-.
func completeAccelerator(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	var offers []string
	offered := map[string]bool{} // a shape on one host comes before the same shape on several
	for _, a := range accelerator.Catalogue() {
		text := accelerator.Text(a)
		if prefix := string(a.Kind) + "-"; strings.HasPrefix(word, prefix) {
			text = prefix + text
		}
		if strings.HasPrefix(text, word) && !offered[text] {
			offered[text] = true
			offers = append(offers, text+"\t"+accelerator.Describe(a))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeMaps offers the maps that have ended, whose values can be reused.
func (f *flags) completeMaps(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	registry := func() (job.Registry, error) { return backend.JobsRegistry(f.connection, false) }
	ended := func(e api.JobSummary) bool { return e.Map && e.State.Ended() }
	return backend.CompleteIDs(c.Context(), word, ended, registry), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
