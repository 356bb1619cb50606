package jobs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/nearest"
)

// completeIDs offers the ids of jobs, with what they run and how they stand.
func (c *command) completeIDs(sub *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 && !strings.Contains(sub.Use, "…") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(sub.Context(), completionTime)
	defer cancel()
	var ids []string
	for _, e := range slices.Concat(c.offered(ctx, c.place), c.offered(ctx, c.localPlace)) {
		offer := fmt.Sprintf("%s\t%s %s", e.ID, e.Function, e.State)
		if strings.HasPrefix(e.ID, word) && !slices.Contains(ids, offer) {
			ids = append(ids, offer)
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeHosts offers the numbers of the hosts of the job that is named already.
func (c *command) completeHosts(sub *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(sub.Context(), completionTime)
	defer cancel()
	j, err := c.attach(ctx, args[0])
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

// completionTime is how long somebody who pressed Tab waits for a cluster.
const completionTime = 2 * time.Second

// offered are the jobs of a place; of one that can't be reached there are none.
func (c *command) offered(ctx context.Context, place func() (job.Place, error)) []job.Entry {
	p, err := place()
	if err != nil {
		return nil
	}
	entries, _ := p.Entries(ctx, job.Filter{Stored: true, Limit: 100}, api.TellStates)
	return entries
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
