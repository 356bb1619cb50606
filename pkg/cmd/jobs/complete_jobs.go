package jobs

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
func (f *jobFlags) CompleteIDs(sub *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	return f.completeIDs(sub, job.Beginning{Prefix: word, Except: args})
}

// CompleteUnended is CompleteIDs without jobs that have ended.
func (f *jobFlags) CompleteUnended(sub *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	return f.completeIDs(sub, job.Beginning{Prefix: word, Except: args, Unended: true})
}

func (f *jobFlags) completeIDs(sub *cobra.Command, b job.Beginning) ([]string, cobra.ShellCompDirective) {
	if len(b.Except) > 0 && !strings.Contains(sub.Use, "…") || f.Any() {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	registries := []func() (job.Registry, error){f.Registry}
	if !f.Local && !f.Connection.ChooseCluster() {
		registries = append(registries, func() (job.Registry, error) { return backend.LocalJobsRegistry(f.Connection) })
	}
	return backend.CompleteIDs(sub.Context(), b, registries...), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// CompleteHosts completes the hosts of the job that is already typed: all, their numbers, and the parts of the Pathways
// runtime.
func (f *jobFlags) CompleteHosts(sub *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	j := f.typedJob(sub, args)
	if j == nil || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	hosts := append([]string{"all"}, hostNumbers(j)...)
	return append(hosts, j.Handle.Pathways.Parts()...), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// CompleteHostNumbers completes the numbers of the hosts of the job that is already typed.
func (f *jobFlags) CompleteHostNumbers(sub *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	j := f.typedJob(sub, args)
	if j == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return hostNumbers(j), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// typedJob returns the job that is already typed, nil if it can't be found soon.
func (f *jobFlags) typedJob(sub *cobra.Command, args []string) *job.Job {
	switch {
	case f.Any():
		args = nil
	case len(args) == 0:
		return nil
	default:
		args = args[:1]
	}
	j, err := cli.Promptly(sub.Context(), func(ctx context.Context) (*job.Job, error) { return f.Job(ctx, args) })
	if err != nil {
		return nil
	}
	return j
}

func hostNumbers(j *job.Job) []string {
	var hosts []string
	for n := range max(j.Handle.Hosts, 1) {
		hosts = append(hosts, strconv.Itoa(n))
	}
	return hosts
}
