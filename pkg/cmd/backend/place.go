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

// LocalPlace is the jobs of this machine. storeURL is the store of new jobs, and
// of those that have no workload any more. python, when set, takes the place of
// the first python3 on PATH. The second result is what runs them.
func LocalPlace(storeURL, python string) (job.Place, *local.Machine, error) {
	return localPlace(storeURL, python, nil)
}

// LocalJobsPlace is LocalPlace for jobs that exist. Warnings go where TellOn says.
func LocalJobsPlace(c *connect.Flags) (job.Place, error) {
	where, err := c.Resolve(true)
	if err != nil {
		return job.Place{}, process.Usage(err)
	}
	place, _, err := localPlace(where.Store, "", func(err error) { c.Tell("warning: " + err.Error()) })
	return place, err
}

func localPlace(storeURL, python string, warn func(error)) (job.Place, *local.Machine, error) {
	s, err := store.OpenFile(storeURL)
	if err != nil {
		return job.Place{}, nil, process.Usage(fmt.Errorf("--store: %w", err))
	}
	dir, err := local.StateDir()
	if err != nil {
		return job.Place{}, nil, err
	}
	machine := local.New(local.Config{StateDir: dir, Python: python, Runner: runner.Zip, OpenStore: store.OpenFile, Warn: warn})
	return job.Place{Backend: machine, Kind: api.BackendLocal, Store: s, OpenStore: store.OpenFile}, machine, nil
}

// LocalJobs returns how many jobs of this machine there are. It reads none of them.
func LocalJobs() int {
	dir, err := local.StateDir()
	if err != nil {
		return 0
	}
	return local.New(local.Config{StateDir: dir}).Count()
}
