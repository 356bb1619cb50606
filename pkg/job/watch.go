package job

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// WatchEntries calls seen with what Entries would list, then with each job that appears,
// changes or disappears, until ctx is done or seen fails. It also reports jobs that leave
// the states that the filter asks for.
func (reg Registry) WatchEntries(ctx context.Context, f Filter, level api.ListLevel, seen func([]api.JobSummary) error) error {
	told, others := map[jobKey]api.JobSummary{}, map[jobKey]bool{}
	first := true
	more := reg.additions()
	defer more.close()
	return reg.Backend.WatchList(ctx, level, func(found []api.JobSummary) error {
		stored := f
		stored.Stored = f.Stored && first
		entries, err := reg.entries(ctx, reg.inStores(slices.Clone(found)), stored, more)
		if err != nil {
			return err
		}
		if entries, err = more.selected(ctx, f, entries, told, others); err != nil && (first || errors.Is(err, store.ErrUnusable)) {
			return err // later, a store that does not answer can do so again
		}
		if first {
			first = false
			for _, e := range entries {
				if e.State != api.NotFound { // a job that is gone never comes back
					told[keyOf(e)] = e
				}
			}
			chosen := f.first(f.choose(entries))
			more.complete(ctx, chosen, f.completed(level))
			return seen(chosen)
		}
		changes, left := f.changed(told, entries)
		more.complete(ctx, changes, f.completed(level))
		more.recall(ctx, changes)
		more.recall(ctx, left)
		changes = append(changes, slices.DeleteFunc(left, func(e api.JobSummary) bool { return !f.WantsState(e) })...)
		if len(changes) == 0 {
			return nil
		}
		return seen(Filter{}.choose(changes))
	})
}

// selected returns the entries that the filter chooses by labels and user, including all that
// are in told. others are jobs that are known to be another user's. If the store does not tell whose
// some jobs are, it returns the rest with an error, and asks again when they change.
func (a *additions) selected(ctx context.Context, f Filter, entries []api.JobSummary, told map[jobKey]api.JobSummary, others map[jobKey]bool) ([]api.JobSummary, error) {
	var chosen, unknown []api.JobSummary
	for _, e := range entries {
		key := keyOf(e)
		_, known := told[key]
		switch {
		case known, f.User == "" && f.selects(e):
			chosen = append(chosen, e)
		case e.State == api.NotFound && e.Store == "": // its workload is gone
			delete(others, key)
		case f.selects(e) && !others[key]:
			unknown = append(unknown, e)
		}
	}
	if len(unknown) == 0 {
		return chosen, nil
	}
	mine, err := a.ofUser(ctx, slices.Clone(unknown), f.User)
	for _, e := range unknown {
		others[keyOf(e)] = err == nil
	}
	for _, e := range mine {
		delete(others, keyOf(e))
	}
	return append(chosen, mine...), err
}

// jobKey identifies a job among those of all namespaces.
type jobKey struct{ namespace, id string }

func keyOf(e api.JobSummary) jobKey { return jobKey{e.Namespace, e.ID} }

// changed returns the entries that differ from told, and updates told. It forgets jobs whose
// workload is gone, because a watch may run for weeks. left are such jobs that are only wanted
// if the store says that they were cancelled.
func (f Filter) changed(told map[jobKey]api.JobSummary, now []api.JobSummary) (changes, left []api.JobSummary) {
	for _, e := range now {
		was, known := told[keyOf(e)]
		if e.State == api.NotFound {
			if !known {
				continue // its last pods are being deleted
			}
			delete(told, keyOf(e))
			if e = gone(was, e.Status); f.WantsState(e) || f.WantsState(was) {
				changes = append(changes, e)
			} else if f.Cancelled {
				left = append(left, e)
			}
			continue
		}
		if known && was.State == api.Running && e.State == api.Pending && e.Workload.Deleted {
			continue // its pods are deleted first, and no other pod starts
		}
		if known && was.State == e.State && was.Status.Outcome() == e.Status.Outcome() && (!f.Live || slices.Equal(was.Workload.Hosts, e.Workload.Hosts)) {
			continue
		}
		told[keyOf(e)] = e
		if f.WantsState(e) || known && f.WantsState(was) {
			changes = append(changes, e)
		}
	}
	return changes, left
}

// gone returns the entry of a job whose workload is gone. e is the last entry that the workload gave.
func gone(e api.JobSummary, s api.Status) api.JobSummary {
	e.State, e.Status, e.Node = api.NotFound, s, ""
	return e
}
