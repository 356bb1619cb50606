package jobs

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/nearest"
)

// completeIDs offers the ids of jobs, with what they run and how they stand.
func (c *command) completeIDs(sub *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 && !strings.Contains(sub.Use, "…") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	place, err := c.place()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	entries, err := place.Entries(sub.Context(), job.Filter{Stored: true, Limit: 100})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, e := range entries {
		if strings.HasPrefix(e.ID, word) {
			ids = append(ids, fmt.Sprintf("%s\t%s %s", e.ID, e.Function, e.State))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func unknownCommand(root *cobra.Command, word string) error {
	var names []string
	for _, sub := range root.Commands() {
		names = append(names, sub.Name())
	}
	hint := nearest.Sentence(word, names)
	if hint == "" {
		hint = "see kubectl kinetic jobs --help"
	}
	return cli.Usagef("jobs %q: no such command; %s", word, hint)
}
