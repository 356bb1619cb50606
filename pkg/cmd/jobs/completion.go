package jobs

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/nearest"
)

// completeIDs offers the ids of jobs, with what they run and how they stand: those that are
// not typed yet and that the command can do something with.
func (c *command) completeIDs(sub *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 && !strings.Contains(sub.Use, "…") || c.choice.given() {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	unended := sub.Name() == "cancel" || sub.Name() == "wait"
	wanted := func(e api.JobSummary) bool {
		return !slices.Contains(args, e.ID) && (!unended || !e.State.Ended())
	}
	ids := backend.CompleteIDs(sub.Context(), word, wanted, c.registry, c.localRegistry)
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeHosts offers the numbers of the hosts of the job that is named already.
func (c *command) completeHosts(sub *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 && !c.choice.given() {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(sub.Context(), backend.CompletionTime)
	defer cancel()
	j, err := c.one(ctx, args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	hosts := []string{"all"}
	for n := range max(j.Handle.Hosts, 1) {
		hosts = append(hosts, strconv.Itoa(n))
	}
	return hosts, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeStates offers the values of --status.
func completeStates() map[string]cobra.CompletionFunc {
	states := strings.Split(stateNames(), ", ")
	return map[string]cobra.CompletionFunc{"status": cobra.FixedCompletions(states, cobra.ShellCompDirectiveNoFileComp)}
}

// otherWords are what other tools call our commands.
var otherWords = map[string][]string{
	"delete": {"cleanup", "cancel"}, "remove": {"cleanup", "cancel"}, "rm": {"cleanup", "cancel"},
	"kill": {"cancel"}, "stop": {"cancel"}, "get": {"describe", "list"}, "ps": {"list"},
	"info": {"describe"}, "inspect": {"describe"}, "show": {"describe"},
	"attach": {"logs"}, "follow": {"logs"},
}

func unknownCommand(root *cobra.Command, word string) error {
	var names []string
	for _, sub := range root.Commands() {
		names = append(names, sub.Name())
	}
	hint := nearest.Sentence(word, names)
	switch meant := otherWords[word]; {
	case meant != nil:
		hint = `did you mean "` + strings.Join(meant, `" or "`) + `"?`
	case hint == "":
		hint = "see kubectl kinetic jobs --help"
	}
	return process.Usagef("unknown command %q for %q; %s", word, "kubectl kinetic jobs", hint)
}
