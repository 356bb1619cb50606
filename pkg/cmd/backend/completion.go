package backend

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

const (
	// CompletionTime is how long someone who pressed Tab waits for a cluster.
	CompletionTime = 2 * time.Second
	// maxCompletions is how many ids of a registry are offered, the newest.
	maxCompletions = 100
)

// CompleteIDs completes a word with the ids of the jobs of some registries that are wanted,
// with what they run and how they stand. Of a registry that can't be reached there are none.
func CompleteIDs(ctx context.Context, word string, wanted func(api.JobSummary) bool, registries ...func() (job.Registry, error)) []string {
	ctx, cancel := context.WithTimeout(ctx, CompletionTime)
	defer cancel()
	var ids []string
	for _, registry := range registries {
		for _, e := range newestWanted(ctx, registry, func(e api.JobSummary) bool { return strings.HasPrefix(e.ID, word) && wanted(e) }) {
			if id := fmt.Sprintf("%s\t%s %s", e.ID, e.Function, e.State); !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// newestWanted are the newest of the jobs of a registry that are wanted.
func newestWanted(ctx context.Context, registry func() (job.Registry, error), wanted func(api.JobSummary) bool) []api.JobSummary {
	p, err := registry()
	if err != nil {
		return nil
	}
	entries, _ := p.Entries(ctx, job.Filter{Stored: true}, api.ListStates)
	entries = slices.DeleteFunc(entries, func(e api.JobSummary) bool { return !wanted(e) })
	return entries[:min(len(entries), maxCompletions)]
}
