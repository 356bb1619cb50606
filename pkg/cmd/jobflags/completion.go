package jobflags

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// CompleteIDs completes the IDs of jobs, and shows the function, the state and the age of each. It
// leaves out IDs that are already typed.
func (f *Flags) CompleteIDs(sub *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	return f.completeIDs(sub, job.Beginning{Prefix: word, Except: args})
}

// CompleteUnended is CompleteIDs without jobs that have ended.
func (f *Flags) CompleteUnended(sub *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	return f.completeIDs(sub, job.Beginning{Prefix: word, Except: args, Unended: true})
}

func (f *Flags) completeIDs(sub *cobra.Command, b job.Beginning) ([]string, cobra.ShellCompDirective) {
	if len(b.Except) > 0 && !strings.Contains(sub.Use, "…") || f.Any() {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	registries := []func() (job.Registry, error){f.Registry}
	if !f.Local && !f.Connection.ChooseCluster() {
		registries = append(registries, f.localRegistry)
	}
	return backend.CompleteIDs(sub.Context(), b, registries...), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// CompleteHosts completes the numbers of the hosts of the job that is already typed.
func (f *Flags) CompleteHosts(sub *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 && !f.Any() {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	j, err := cli.Promptly(sub.Context(), func(ctx context.Context) (*job.Job, error) { return f.Job(ctx, args) })
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	hosts := []string{"all"}
	for n := range max(j.Handle.Hosts, 1) {
		hosts = append(hosts, strconv.Itoa(n))
	}
	hosts = append(hosts, j.Handle.Pathways.Parts()...)
	return hosts, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
