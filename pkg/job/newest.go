package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// ErrNoJob says that no job was found.
var ErrNoJob error = noJob{}

type noJob struct{}

func (noJob) Error() string { return "no jobs found" }

// Kind implements what pkg/cmd/cli asks an error for.
func (noJob) Kind() api.ErrorKind { return api.KindJobNotFound }

// Newest finds the newest job that the filter chooses by user and labels, with or without a
// workload. It reads as few handles as it can: most ids contain the time of the submit. If
// there is no such job, the error is ErrNoJob.
func (reg Registry) Newest(ctx context.Context, f Filter) (*Job, error) {
	found, unlisted := reg.list(ctx, api.ListNames)
	candidates, err := reg.byAge(ctx, found)
	if err != nil && (len(found) == 0 || !errors.Is(err, store.ErrNone)) {
		return nil, joinUnread(unlisted, err)
	}
	more := reg.additions()
	defer more.close()
	var newest *api.JobSummary
	var unreadable []unread
	for batch := range slices.Chunk(candidates, Parallel) {
		if newest != nil && newest.Created.After(batch[0].Created) && !batch[0].Created.IsZero() {
			break
		}
		unreadable = append(unreadable, reg.readHandles(ctx, batch, more, f)...)
		for i, e := range batch {
			if e.ID != "" && (f.User == "" || e.User == f.User) && f.selects(e) && (newest == nil || e.Created.After(newest.Created)) {
				newest = &batch[i]
			}
		}
	}
	var errs []error
	for _, u := range unreadable { // an older one can't be the newest
		if newest == nil || u.created.IsZero() || !u.created.Before(newest.Created) {
			errs = append(errs, u.err)
		}
	}
	if newest == nil {
		errs = append(errs, unlisted)
	}
	if err := oneOf(errs); err != nil {
		return nil, fmt.Errorf("cannot find the newest job; name one by its ID: %w", err)
	}
	if newest == nil {
		return nil, ErrNoJob
	}
	return reg.Open(ctx, *newest)
}

// byAge returns the jobs that have a workload or are in the store, the newest first. Jobs
// whose age only the handle has come before all others.
func (reg Registry) byAge(ctx context.Context, found []api.JobSummary) ([]api.JobSummary, error) {
	var entries []api.JobSummary
	known := map[string]bool{}
	for _, w := range found {
		known[w.ID] = true
		created := store.TimeOf(w.ID) // by the submitter's clock, as for jobs without a workload
		if created.IsZero() {
			created = w.Created
		}
		entries = append(entries, api.JobSummary{ID: w.ID, Namespace: w.Namespace, Store: w.Store, Created: created, Workload: w.Workload})
	}
	ids, err := store.IDs(ctx, reg.Store, "")
	for _, id := range ids {
		if !known[id] {
			entries = append(entries, api.JobSummary{ID: id, Store: reg.Store.URL(), State: api.NotFound, Created: store.TimeOf(id)})
		}
	}
	rank := func(e api.JobSummary) int64 {
		if e.Created.IsZero() {
			return math.MaxInt64
		}
		return e.Created.Unix()
	}
	slices.SortFunc(entries, func(a, b api.JobSummary) int { return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a.ID, b.ID)) })
	return entries, err
}

// unread is a job whose handle can't be read, and when it was submitted; zero if that is not known.
type unread struct {
	created time.Time
	err     error
}

// readHandles completes entries from their handles. It clears the id of an entry that is not a job of
// this registry. It returns the jobs whose handles can't be read, if the filter may choose them.
func (reg Registry) readHandles(ctx context.Context, entries []api.JobSummary, more *additions, f Filter) []unread {
	failed := make([]*unread, len(entries))
	parallel.Each(Parallel, entries, func(i int, _ api.JobSummary) {
		e := &entries[i]
		h, err := readHandle(ctx, more.storeAt(e.Store), e.ID)
		exists := e.State != api.NotFound
		if err == nil && reg.has(h, exists) == nil {
			e.JobDetails = h.Details()
			if !h.CreatedAt.IsZero() {
				e.Created = h.CreatedAt
			}
			if !exists {
				e.Namespace, e.Workload.Labels = h.Namespace, h.Labels
			}
			return
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) && (!exists || f.User != "") {
			failed[i] = &unread{e.Created, err}
		}
		if err == nil || !exists {
			e.ID = ""
		}
	})
	var all []unread
	for _, u := range failed {
		if u != nil {
			all = append(all, *u)
		}
	}
	return all
}

// oneOf returns the first error, with the number of the others: a store that can't be read has
// the same error for each job.
func oneOf(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	default:
		return fmt.Errorf("%w; and %d more", errs[0], len(errs)-1)
	}
}
