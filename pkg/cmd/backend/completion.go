package backend

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// CompleteIDs completes a word with the IDs of the jobs of some registries that b chooses, with
// each job's function, state and age. It skips registries that it can't reach.
func CompleteIDs(ctx context.Context, b job.Beginning, registries ...func() (job.Registry, error)) []string {
	found := make([][]api.JobSummary, len(registries))
	parallel.Each(len(registries), registries, func(i int, open func() (job.Registry, error)) {
		found[i], _ = cli.Promptly(ctx, func(ctx context.Context) ([]api.JobSummary, error) {
			registry, err := open()
			if err != nil {
				return nil, err
			}
			return registry.Recent(ctx, b), nil
		})
	})
	var ids []string
	for _, e := range slices.Concat(found...) {
		if id := e.ID + "\t" + described(e); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func described(e api.JobSummary) string {
	words := []string{e.Function, e.Word()}
	if !e.Created.IsZero() {
		words = append(words, ui.Age(e.Created, time.Now()))
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}
