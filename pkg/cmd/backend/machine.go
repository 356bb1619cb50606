// Package backend creates, from connection flags, the cluster or machine that runs jobs and
// the registry where its jobs are found. It also connects this machine to a host of a running job:
// to its ports, and to programs that run beside the call.
package backend

import (
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/local"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// LocalRegistry returns the jobs of this machine and what runs them. storeURL is the store
// of new jobs and of jobs without a workload. python, if set, replaces the first python3 on
// PATH. warn is called about what a job will not find at its path.
func LocalRegistry(storeURL, python string, warn func(error)) (job.Registry, *local.Machine, error) {
	s, err := store.OpenFile(storeURL)
	if err != nil {
		return job.Registry{}, nil, cli.Usage(fmt.Errorf("--store: %w", err))
	}
	dir, err := local.StateDir()
	if err != nil {
		return job.Registry{}, nil, err
	}
	machine := local.New(local.Config{StateDir: dir, Python: python, Runner: runner.Sources, OpenStore: store.OpenFile, Warn: warn})
	return job.Registry{Backend: machine, Kind: api.BackendLocal, Store: s, OpenStore: store.OpenFile}, machine, nil
}

// LocalJobsRegistry is LocalRegistry for existing jobs. Warnings go where SetNotices says.
func LocalJobsRegistry(c *connect.Flags) (job.Registry, error) {
	where, err := c.Resolve(true)
	if err != nil {
		return job.Registry{}, cli.Usage(err)
	}
	registry, _, err := LocalRegistry(where.Store, "", func(err error) { c.Notice("warning: " + err.Error()) })
	registry.Flags = c.GivenStore()
	return registry, err
}

// LocalJobs returns the number of jobs on this machine. It reads none of them.
func LocalJobs() int {
	dir, err := local.StateDir()
	if err != nil {
		return 0
	}
	return local.New(local.Config{StateDir: dir}).Count()
}
