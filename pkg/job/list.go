package job

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Filter chooses jobs.
type Filter struct {
	// States and Cancelled, if one is set, choose only jobs in these states, and cancelled jobs
	// in any state.
	States    []api.State
	Cancelled bool
	// ByEnd means that States also chooses jobs without a workload that are known to have ended in such a state.
	ByEnd bool
	// Stored includes jobs that no longer have a workload.
	Stored bool
	// Orphans, if set together with Stored, includes jobs that have no handle either, if nothing was
	// added to them after this time, by our clock: a submit may still be writing the others.
	Orphans time.Time
	// Outputs, together with Stored, includes jobs that only have outputs left.
	Outputs bool
	// User, if set, chooses only jobs that this user submitted.
	User string
	// Selector, if set, chooses only jobs with these labels.
	Selector labels.Selector
	// Store, if set, chooses only jobs of the store with this URL, and those that name none.
	Store string
	// Before, if set, chooses only jobs created before this time, by our clock.
	Before time.Time
	// Live is for a screen that is kept up to date: a watch also reports each change of a host, and what only the
	// handles say is left out, because each is a request.
	Live bool
	// Limit is the greatest number of jobs, the newest first; 0 is all.
	Limit int
}

// Chooses reports whether the filter leaves out jobs because of their properties.
func (f Filter) Chooses() bool {
	return len(f.States) > 0 || f.Cancelled || f.User != "" || f.Selector != nil || f.Store != "" || !f.Before.IsZero()
}

func (f Filter) wants(e api.JobSummary) bool {
	return f.WantsState(e) && f.selects(e) && f.isIn(e.Store) && (f.Before.IsZero() || e.Created.Before(f.Before))
}

// completed returns the level at which the store completes what workloads say.
func (f Filter) completed(level api.ListLevel) api.ListLevel {
	if f.Live {
		return min(level, api.ListStates)
	}
	return level
}

func (f Filter) isIn(storeURL string) bool {
	return f.Store == "" || storeURL == "" || storeURL == f.Store
}

func (f Filter) selects(e api.JobSummary) bool {
	return f.Selector == nil || f.Selector.Matches(labels.Set(e.Workload.Labels))
}

// WantsState reports whether the filter chooses jobs in the state of this one.
func (f Filter) WantsState(e api.JobSummary) bool {
	return len(f.States) == 0 && !f.Cancelled || slices.Contains(f.States, e.State) || f.Cancelled && e.Word() == api.CancelledWord ||
		f.ByEnd && slices.Contains(f.States, api.State(e.Status.Ended))
}

// UnreadError says that workloads that exist, or may exist, could not be listed.
type UnreadError struct{ err error }

func (e *UnreadError) Error() string { return e.err.Error() }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *UnreadError) Unwrap() error { return e.err }

// joinUnread joins the errors of listing the workloads and the store. It leaves out store.ErrNone
// if the workloads could not be listed, because they would have named their stores.
func joinUnread(workloads, stored error) error {
	if workloads != nil && errors.Is(stored, store.ErrNone) {
		return workloads
	}
	return errors.Join(workloads, stored)
}

// Entries lists the jobs that the filter chooses, the newest first. With an error it
// returns the jobs that it could read. If workloads could not be listed, the error is an
// UnreadError, and a job without a workload is only listed if it is known to have ended.
func (reg Registry) Entries(ctx context.Context, f Filter, level api.ListLevel) ([]api.JobSummary, error) {
	found, unread := reg.list(ctx, level)
	f.Before, f.Orphans = reg.Time(f.Before), reg.Time(f.Orphans)
	more := reg.additions()
	defer more.close()
	entries, err := reg.entries(ctx, found, f, more)
	if unread != nil {
		entries = slices.DeleteFunc(entries, func(e api.JobSummary) bool { return e.State == api.NotFound && !e.EndKnown() })
		for i := range entries {
			if entries[i].State == api.NotFound {
				entries[i].Status.Unread = unread.Error()
			}
		}
		err = joinUnread(&UnreadError{unread}, err)
	}
	if len(entries) == 0 {
		return nil, err
	}
	if f.User != "" {
		var unknown error
		entries, unknown = more.ofUser(ctx, slices.DeleteFunc(entries, func(e api.JobSummary) bool { return !f.wants(e) }), f.User)
		err = errors.Join(err, unknown)
	}
	chosen := f.choose(entries)
	more.settleTies(ctx, chosen)
	chosen = f.first(chosen)
	more.complete(ctx, chosen, f.completed(level))
	for i := range chosen {
		if e := &chosen[i]; e.Status.End == "" { // its workload exists, so nothing of it was collected
			e.Status.End = e.Status.EndSentence(e.Map, "")
		}
	}
	return chosen, err
}

// choose returns the entries that the filter wants, the newest first, whatever its limit.
func (f Filter) choose(entries []api.JobSummary) []api.JobSummary {
	var wanted []*api.JobSummary // sorting thousands of summaries would move them all often
	for i := range entries {
		if f.wants(entries[i]) {
			wanted = append(wanted, &entries[i])
		}
	}
	slices.SortFunc(wanted, newestFirst)
	chosen := make([]api.JobSummary, len(wanted))
	for i, e := range wanted {
		chosen[i] = *e
	}
	return chosen
}

// first returns no more than f.Limit entries.
func (f Filter) first(entries []api.JobSummary) []api.JobSummary {
	if f.Limit > 0 && len(entries) > f.Limit {
		return entries[:f.Limit]
	}
	return entries
}

// newestFirst compares two jobs by when they were created: a cluster knows it to the second, the submitter to the
// millisecond.
func newestFirst(a, b *api.JobSummary) int {
	return cmp.Or(b.Created.Truncate(time.Second).Compare(a.Created.Truncate(time.Second)),
		within(b).Compare(within(a)), cmp.Compare(a.ID, b.ID))
}

// within returns when a job was submitted, for jobs of the same second.
func within(e *api.JobSummary) time.Time {
	if e.Workload.Submitted.IsZero() {
		return e.Created
	}
	return e.Workload.Submitted
}

// entries describes workloads, in place, and adds, with f.Stored, the jobs that no longer have one.
func (reg Registry) entries(ctx context.Context, entries []api.JobSummary, f Filter, more *additions) ([]api.JobSummary, error) {
	for i := range entries {
		e := &entries[i]
		j := reg.Job(api.Handle{JobID: e.ID, Namespace: e.Namespace, Backend: reg.Kind})
		e.State, e.Status = e.Status.State, j.Advised(e.Status)
	}
	more.name(ctx, entries)
	more.settle(ctx, entries)
	if !f.Stored {
		return entries, nil
	}
	stored, err := reg.stored(ctx, entries, f)
	return append(entries, stored...), err
}

// Parallel is how many jobs are processed at the same time. Each may take several requests.
const Parallel = 16

// atATime returns how many pods a job has at the same time.
func atATime(h api.Handle) int {
	if h.Map != nil {
		return h.Map.Parallelism
	}
	return h.Machines()
}

// stored lists the jobs in the store that are not in known. A job without a handle, or
// with one that this version can't read or that is another job's, is an orphan.
func (reg Registry) stored(ctx context.Context, known []api.JobSummary, f Filter) ([]api.JobSummary, error) {
	ids, err := store.IDs(ctx, reg.Store, "")
	if err != nil {
		return nil, err
	}
	have := make(map[string]bool, len(known))
	for _, e := range known {
		have[e.ID] = true
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return have[id] })
	entries := make([]*api.JobSummary, len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(Parallel)
	for i, id := range ids {
		g.Go(func() (err error) {
			entries[i], err = reg.storedEntry(ctx, id, f)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	wanted := make([]api.JobSummary, 0, len(entries))
	for _, e := range entries {
		if e != nil {
			wanted = append(wanted, *e)
		}
	}
	return wanted, nil
}

// storedEntry returns what the store knows about a job; nil if it belongs to another
// namespace or cluster, or is an orphan that is not wanted.
func (reg Registry) storedEntry(ctx context.Context, id string, f Filter) (*api.JobSummary, error) {
	data, err := records.ReadBytes(ctx, reg.Store, store.Handle(id))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	var h api.Handle
	if err == nil {
		h, err = api.ParseHandle(data)
	}
	if err != nil || h.JobID != id {
		return reg.orphan(ctx, id, f)
	}
	if reg.Reaches(h) != nil {
		return nil, nil
	}
	status, err := (&Job{Handle: h, Store: reg.Store}).gone(ctx)
	if err != nil {
		return nil, err
	}
	return &api.JobSummary{ID: id, Namespace: h.Namespace, State: api.NotFound, Function: h.FuncName, Accelerator: h.Accelerator, Capacity: h.Capacity,
		Created: h.CreatedAt, Store: reg.Store.URL(), Hosts: atATime(h), Map: h.Map != nil, JobDetails: h.Details(), Status: status, Workload: api.WorkloadFacts{Labels: h.Labels}}, nil
}
