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
	// CompletionTime is how long to wait for a cluster after someone pressed Tab.
	CompletionTime = 2 * time.Second
	// maxCompletions is how many ids of a registry are offered at most, newest first.
	maxCompletions = 100
)

// CompleteIDs completes a word with the ids of the wanted jobs of some registries, with
// each job's function and state. It skips registries that it can't reach.
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

// newestWanted returns the newest wanted jobs of a registry.
func newestWanted(ctx context.Context, registry func() (job.Registry, error), wanted func(api.JobSummary) bool) []api.JobSummary {
	p, err := registry()
	if err != nil {
		return nil
	}
	entries, _ := p.Entries(ctx, job.Filter{Stored: true}, api.ListStates)
	entries = slices.DeleteFunc(entries, func(e api.JobSummary) bool { return !wanted(e) })
	return entries[:min(len(entries), maxCompletions)]
}
