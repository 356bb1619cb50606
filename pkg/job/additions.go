package job

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const (
	// askTime is how long a list waits for what stores may add to it.
	askTime = 5 * time.Second
	// restTime is for how long a store that did not answer is not asked again: longer than a list takes.
	restTime = 30 * time.Second
)

// additions reads from stores what a list of workloads lacks. A store that does not
// answer in time is not asked again for a while: an incomplete list is better than none.
type additions struct {
	registry Registry
	mu       sync.Mutex
	stores   map[string]store.Store // by URL, without the usual one; each is opened once
	silent   map[string]time.Time   // by URL: until when the store is not asked, because it did not answer in time
}

// additions returns additions, which the caller must close.
func (reg Registry) additions() *additions {
	return &additions{registry: reg, stores: map[string]store.Store{}, silent: map[string]time.Time{}}
}

func (a *additions) close() {
	for _, s := range a.stores {
		_ = s.Close() // it was only read
	}
}

// name reads the functions and accelerators of jobs of keras-kinetic from their
// handles: the workloads don't have them.
func (a *additions) name(ctx context.Context, entries []api.JobSummary) {
	unnamed := func(e api.JobSummary) bool { return e.Function == "" && e.State != api.NotFound }
	a.ask(ctx, entries, unnamed, func(ctx context.Context, e *api.JobSummary, j *Job) {
		if h, err := readHandle(ctx, j.Store, e.ID); err == nil {
			e.Function, e.Accelerator = h.FuncName, h.Accelerator
		}
	})
}

// settle reads from the store how jobs ended whose workloads can't say it.
func (a *additions) settle(ctx context.Context, entries []api.JobSummary) {
	open := func(e api.JobSummary) bool { return unsettled(e.Status) || Lost(e.Status) }
	a.ask(ctx, entries, open, func(ctx context.Context, e *api.JobSummary, j *Job) {
		e.Status = j.settled(ctx, e.Status)
		e.State = e.Status.State
	})
}

// recall reads from the store how jobs ended whose workloads have just disappeared.
func (a *additions) recall(ctx context.Context, entries []api.JobSummary) {
	gone := func(e api.JobSummary) bool { return e.State == api.NotFound && e.Store != "" }
	a.ask(ctx, entries, gone, func(ctx context.Context, e *api.JobSummary, j *Job) { e.Status = j.recalled(ctx, e.Status) })
}

// settleTies sorts jobs that a cluster created within the same second, in the order in which they were submitted. It reads
// that from their handles, for the newest of them only.
func (a *additions) settleTies(ctx context.Context, newest []api.JobSummary) {
	tied := map[string]bool{}
	for i := 1; i < len(newest) && len(tied) < maxRecalled; i++ {
		if x, y := newest[i-1], newest[i]; !x.Created.IsZero() && x.Created.Truncate(time.Second).Equal(y.Created.Truncate(time.Second)) {
			for _, e := range []api.JobSummary{x, y} {
				tied[e.ID] = e.State != api.NotFound && e.Store != "" && a.registry.Kind != api.BackendLocal
			}
		}
	}
	if len(tied) == 0 {
		return
	}
	a.ask(ctx, newest, func(e api.JobSummary) bool { return tied[e.ID] }, func(ctx context.Context, e *api.JobSummary, j *Job) {
		if h, err := readHandle(ctx, j.Store, e.ID); err == nil {
			e.Workload.Submitted = h.CreatedAt
		}
	})
	slices.SortStableFunc(newest, func(x, y api.JobSummary) int { return newestFirst(&x, &y) })
}

// complete reads from the store what workloads don't say: when a job began whose first
// pods are gone and, for a list with reasons, which attempt runs and what the handle says.
func (a *additions) complete(ctx context.Context, entries []api.JobSummary, level api.ListLevel) {
	again := func(e api.JobSummary) bool {
		return e.Workload.Pod != "" && (e.Workload.MayHaveEarlierPods || level >= api.ListReasons)
	}
	local := a.registry.Kind == api.BackendLocal // where the handle is a file, and nothing else has the call
	bare := func(e api.JobSummary) bool { return (level >= api.ListReasons || local) && e.Store != "" && !e.Known() }
	either := func(e api.JobSummary) bool { return again(e) || bare(e) }
	a.ask(ctx, entries, either, func(ctx context.Context, e *api.JobSummary, j *Job) {
		if again(*e) {
			if attempts, err := j.attempts(ctx); err == nil && len(attempts) > 0 {
				e.Status = numbered(e.Status, e.Workload.Pod, attempts)
			}
		}
		if !bare(*e) {
			return
		}
		if h, err := readHandle(ctx, j.Store, e.ID); err == nil {
			e.JobDetails = h.Details()
			if e.Hosts == 0 {
				e.Hosts, e.Pathways = atATime(h), h.Pathways != nil
			}
		}
	})
}

// ofUser returns the entries of a user's jobs. It reads unknown users from the handles.
func (a *additions) ofUser(ctx context.Context, entries []api.JobSummary, user string) ([]api.JobSummary, error) {
	errs := make([]error, len(entries))
	parallel.Each(Parallel, entries, func(i int, e api.JobSummary) {
		if e.Known() {
			return
		}
		h, err := readHandle(ctx, a.storeAt(e.Store), e.ID)
		if err == nil {
			entries[i].JobDetails = h.Details()
		} else if !errors.Is(err, store.ErrNotFound) {
			errs[i] = err
		}
	})
	mine := slices.DeleteFunc(entries, func(e api.JobSummary) bool { return e.User != user })
	return mine, oneOf(errs)
}

// ask calls do for each wanted entry, several at the same time, with a Job to read the
// store. If that can't be opened, every read fails.
func (a *additions) ask(ctx context.Context, entries []api.JobSummary, wanted func(api.JobSummary) bool, do func(context.Context, *api.JobSummary, *Job)) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	answered := map[string]bool{} // a store that answers for some of many jobs is slow, not silent
	parallel.Each(Parallel, entries, func(i int, e api.JobSummary) {
		if !wanted(e) {
			return
		}
		do(ctx, &entries[i], &Job{Handle: api.Handle{JobID: e.ID}, Store: a.storeAt(e.Store)})
		a.mu.Lock()
		defer a.mu.Unlock()
		if answered[e.Store] = answered[e.Store] || ctx.Err() == nil; !answered[e.Store] {
			a.silent[e.Store] = time.Now().Add(restTime)
		}
	})
}

// storeAt returns the store with a URL. If that can't be opened, it returns one whose reads all fail.
func (a *additions) storeAt(url string) store.Store {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Now().Before(a.silent[url]) {
		return store.None(errors.New("it did not answer in time"))
	}
	if url == a.registry.Store.URL() {
		return a.registry.Store
	}
	if s := a.stores[url]; s != nil {
		return s
	}
	s, err := a.registry.OpenStore(url)
	if err != nil {
		s = store.None(err)
	}
	a.stores[url] = s
	return s
}
