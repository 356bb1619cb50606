package job

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Beginning chooses jobs by the beginning of an ID, for completion.
type Beginning struct {
	// Prefix begins the IDs.
	Prefix string
	// Except are IDs that are not wanted.
	Except []string
	// Unended wants only jobs that have not ended, Maps only maps that have.
	Unended, Maps bool
}

// wants reports whether a job is chosen, as far as its state is known.
func (b Beginning) wants(e *api.JobSummary) bool {
	return strings.HasPrefix(e.ID, b.Prefix) && !slices.Contains(b.Except, e.ID) &&
		(!b.Unended || !e.State.Ended()) && (!b.Maps || e.Map && (e.State == "" || e.State.Ended()))
}

const (
	// maxRecent is how many jobs Recent returns, at most.
	maxRecent = 500
	// maxRecalled is how many jobs may be read from the store: Parallel at a time, so
	// this takes as long as two reads.
	maxRecalled = 2 * Parallel
)

// Recent returns the newest jobs that b chooses: those with a workload or, if there is none, those
// that are only in the store. It reads little more than what it returns, and leaves out what
// it can't read.
func (reg Registry) Recent(ctx context.Context, b Beginning) []api.JobSummary {
	found, unread := reg.Backend.Pick(ctx, func(all []api.JobSummary) []api.JobSummary { return b.newest(all, maxRecent) })
	found = b.newest(found, maxRecent) // without what turned out not to be wanted
	if len(found) > 0 || b.Unended {
		return found
	}
	ids, _ := store.IDs(ctx, reg.Store, b.Prefix)
	var candidates []api.JobSummary
	for _, id := range ids {
		candidates = append(candidates, api.JobSummary{ID: id, State: api.NotFound, Map: true})
	}
	candidates = b.newest(candidates, maxRecalled)
	recalled := make([]api.JobSummary, len(candidates))
	parallel.Each(Parallel, candidates, func(i int, e api.JobSummary) {
		stored, err := reg.storedEntry(ctx, e.ID, Filter{})
		if err == nil && stored != nil && (unread == nil || stored.EndKnown()) {
			recalled[i] = *stored
		}
	})
	recalled = slices.DeleteFunc(recalled, func(e api.JobSummary) bool { return e.ID == "" })
	return b.newest(recalled, maxRecalled)
}

// newest returns the newest jobs that b chooses. If there are more than limit, it picks the
// last one so that the IDs have no longer common prefix than those of all chosen jobs: shells
// insert the common prefix.
func (b Beginning) newest(all []api.JobSummary, limit int) []api.JobSummary {
	type aged struct { // sorting thousands of summaries would take longer than to read them
		job *api.JobSummary
		at  time.Time
	}
	var chosen []aged
	for i := range all {
		if e := &all[i]; b.wants(e) {
			chosen = append(chosen, aged{e, submitted(e)})
		}
	}
	slices.SortFunc(chosen, func(a, b aged) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.job.ID, b.job.ID)) })
	if len(chosen) > limit {
		common := func(e aged) int { return commonBeginning(chosen[0].job.ID, e.job.ID) }
		byCommon := func(a, b aged) int { return cmp.Compare(common(a), common(b)) }
		other := slices.MinFunc(chosen[limit:], byCommon)
		if chosen = chosen[:limit]; common(other) < common(slices.MinFunc(chosen, byCommon)) {
			chosen[limit-1] = other
		}
	}
	newest := make([]api.JobSummary, len(chosen))
	for i, e := range chosen {
		newest[i] = *e.job
	}
	return newest
}

// submitted returns when a job was submitted, which most IDs say to the second.
func submitted(e *api.JobSummary) time.Time {
	if t := store.TimeOf(e.ID); !t.IsZero() {
		return t
	}
	return e.Created
}

// commonBeginning returns the length of the longest common prefix of two IDs.
func commonBeginning(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
