// Package backend makes what runs jobs, a cluster or this machine, from connection flags, and
// the place where its jobs are found.
package backend

import (
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/local"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// LocalRegistry is the jobs of this machine. storeURL is the store of new jobs, and
// of those that have no workload any more. python, when set, takes the place of
// the first python3 on PATH. The second result is what runs them.
func LocalRegistry(storeURL, python string) (job.Registry, *local.Machine, error) {
	return localRegistry(storeURL, python, nil)
}

// LocalJobsRegistry is LocalRegistry for jobs that exist. Warnings go where TellOn says.
func LocalJobsRegistry(c *connect.Flags) (job.Registry, error) {
	where, err := c.Resolve(true)
	if err != nil {
		return job.Registry{}, process.Usage(err)
	}
	registry, _, err := localRegistry(where.Store, "", func(err error) { c.Tell("warning: " + err.Error()) })
	return registry, err
}

func localRegistry(storeURL, python string, warn func(error)) (job.Registry, *local.Machine, error) {
	s, err := store.OpenFile(storeURL)
	if err != nil {
		return job.Registry{}, nil, process.Usage(fmt.Errorf("--store: %w", err))
	}
	dir, err := local.StateDir()
	if err != nil {
		return job.Registry{}, nil, err
	}
	machine := local.New(local.Config{StateDir: dir, Python: python, Runner: runner.Zip, OpenStore: store.OpenFile, Warn: warn})
	return job.Registry{Backend: machine, Kind: api.BackendLocal, Store: s, OpenStore: store.OpenFile}, machine, nil
}

// LocalJobs returns how many jobs of this machine there are. It reads none of them.
func LocalJobs() int {
	dir, err := local.StateDir()
	if err != nil {
		return 0
	}
	return local.New(local.Config{StateDir: dir}).Count()
}
