package cli

import (
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/local"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// LocalPlace is the jobs of this machine. storeURL is the store of new jobs, and
// of those that have no workload any more. python, when set, takes the place of
// the first python3 on PATH.
func LocalPlace(storeURL, python string) (job.Place, error) {
	s, err := store.OpenFile(storeURL)
	if err != nil {
		return job.Place{}, Usage(fmt.Errorf("--store: %w", err))
	}
	dir, err := local.StateDir()
	if err != nil {
		return job.Place{}, err
	}
	workload := local.New(local.Config{StateDir: dir, Python: python, Runner: runner.Zip, OpenStore: store.OpenFile})
	return job.Place{Workload: workload, Backend: api.BackendLocal, Store: s, OpenStore: store.OpenFile,
		List: listLocal(workload), Watch: watchLocal(workload)}, nil
}
