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
// the first python3 on PATH.
func LocalPlace(storeURL, python string) (job.Place, error) {
	return localPlace(storeURL, python, func(error) {})
}

// LocalJobsPlace is LocalPlace for jobs that exist. Warnings go where TellOn says.
func LocalJobsPlace(c *connect.Flags) (job.Place, error) {
	where, err := c.Resolve(true)
	if err != nil {
		return job.Place{}, process.Usage(err)
	}
	return localPlace(where.Store, "", func(err error) { c.Tell("warning: " + err.Error()) })
}

func localPlace(storeURL, python string, warn func(error)) (job.Place, error) {
	s, err := store.OpenFile(storeURL)
	if err != nil {
		return job.Place{}, process.Usage(fmt.Errorf("--store: %w", err))
	}
	workload, err := LocalWorkload(python)
	if err != nil {
		return job.Place{}, err
	}
	return job.Place{Workload: workload, Backend: api.BackendLocal, Store: s, OpenStore: store.OpenFile,
		List: listLocal(workload), Watch: watchLocal(workload, warn)}, nil
}

// LocalJobs returns how many jobs of this machine there are. It reads none of them.
func LocalJobs() int {
	dir, err := local.StateDir()
	if err != nil {
		return 0
	}
	return local.New(local.Config{StateDir: dir}).Count()
}

// LocalWorkload is what runs the jobs of this machine, with python as for LocalPlace.
func LocalWorkload(python string) (*local.Workload, error) {
	dir, err := local.StateDir()
	if err != nil {
		return nil, err
	}
	return local.New(local.Config{StateDir: dir, Python: python, Runner: runner.Zip, OpenStore: store.OpenFile}), nil
}
