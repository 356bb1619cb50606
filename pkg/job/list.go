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
	"github.com/kubectl-kinetic/kinetic/pkg/records"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Entry is one line of a list of jobs.
type Entry struct {
	ID          string    `json:"id"`
	Namespace   string    `json:"namespace,omitempty"`
	State       api.State `json:"state"`
	Function    string    `json:"function"`
	Accelerator string    `json:"accelerator"`
	Created     time.Time `json:"created"`
	Store       string    `json:"store"`
	// Hosts is how many there are at a time, 0 where that is not known: it is local,
	// or a group that has no pods, of which no reasons were asked for.
	Hosts int `json:"hosts,omitempty"`
	// Map says that the job calls its function once for each of many inputs.
	Map bool `json:"map,omitempty"`
	// Node is where it runs, or ran last, while its pod is there.
	Node string `json:"node,omitempty"`
	// Pods are the names of the newest pod of each host that has one.
	Pods []string `json:"pods,omitempty"`
	Details
	// Status is that of the workload or, where it is gone, how the job ended.
	Status api.Status `json:"status"`

	labels map[string]string // of the workload or, where it is gone, of the handle
}

// Filter chooses jobs.
type Filter struct {
	// States, when there are any, are the only ones wanted.
	States []api.State
	// Stored also takes jobs that have no workload any more.
	Stored bool
	// Remnants, when set with Stored, also takes what has no handle either, if nothing
	// was added to it from that moment on by our clock: else a submit may be writing it.
	Remnants time.Time
	// Outputs, with Stored, also takes what is left of a job whose records are gone.
	Outputs bool
	// User, when set, takes only jobs that this user has submitted.
	User string
	// Selector, when set, takes only jobs with these labels.
	Selector labels.Selector
	// Before, when set, takes only jobs created before that moment by our clock.
	Before time.Time
	// Limit is the number of jobs at most, the newest first; 0 is all.
	Limit int
}

func (f Filter) wants(e Entry) bool {
	return f.wantsState(e.State) && f.selects(e) && (f.Before.IsZero() || e.Created.Before(f.Before))
}

func (f Filter) selects(e Entry) bool {
	return f.Selector == nil || f.Selector.Matches(labels.Set(e.labels))
}

func (f Filter) wantsState(s api.State) bool {
	return len(f.States) == 0 || slices.Contains(f.States, s)
}

// EndKnown reports whether the job has ended for certain: its workload says so, or the
// store does. One without a workload may run where no one lets us see it.
func (e Entry) EndKnown() bool {
	return e.State.Ended() && e.Status.State.Ended() && e.Status.State != api.NotFound
}

// UnreadError is about workloads that exist, or may, and could not be listed.
type UnreadError struct{ err error }

func (e *UnreadError) Error() string { return e.err.Error() }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *UnreadError) Unwrap() error { return e.err }

// Entries lists the jobs that the filter chooses, the newest first. Next to an
// error, which is an UnreadError where workloads could not be listed, it gives those
// that could be read. A job without a workload is then among them only if it is known
// to have ended.
func (p Place) Entries(ctx context.Context, f Filter, detail api.Detail) ([]Entry, error) {
	found, unread := p.List(ctx, detail)
	f.Before, f.Remnants = p.Time(f.Before), p.Time(f.Remnants)
	more := p.additions()
	defer more.close()
	entries, err := p.entries(ctx, found, f, more)
	if unread != nil {
		entries = slices.DeleteFunc(entries, func(e Entry) bool { return e.State == api.NotFound && !e.EndKnown() })
		err = errors.Join(&UnreadError{unread}, err)
	}
	if len(entries) == 0 {
		return nil, err
	}
	if f.User != "" {
		var unknown error
		entries, unknown = more.ofUser(ctx, slices.DeleteFunc(entries, func(e Entry) bool { return !f.wants(e) }), f.User)
		err = errors.Join(err, unknown)
	}
	chosen := f.choose(entries)
	more.complete(ctx, chosen, detail)
	return chosen, err
}

// choose takes the newest of the entries that are wanted.
func (f Filter) choose(entries []Entry) []Entry {
	wanted := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return !f.wants(e) })
	slices.SortFunc(wanted, func(a, b Entry) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
	})
	if f.Limit > 0 && len(wanted) > f.Limit {
		wanted = wanted[:f.Limit]
	}
	return wanted
}

// entries describes workloads and, where the filter asks for them, the jobs
// that have none any more.
func (p Place) entries(ctx context.Context, found []Found, f Filter, more *additions) ([]Entry, error) {
	entries := make([]Entry, len(found))
	for i, w := range found {
		j := p.Job(api.Handle{JobID: w.ID, Namespace: w.Namespace, Backend: p.Backend})
		entries[i] = Entry{ID: w.ID, Namespace: w.Namespace, State: w.Status.State, Function: w.Function, Accelerator: w.Accelerator,
			Created: w.Created, Store: w.Store, Hosts: w.Hosts, Map: w.Map, Node: w.Node, Pods: w.Pods,
			Status: j.Advised(w.Status), labels: w.Labels}
	}
	more.name(ctx, entries)
	more.settle(ctx, entries)
	if !f.Stored {
		return entries, nil
	}
	stored, err := p.stored(ctx, entries, f)
	return append(entries, stored...), err
}

// readers is how many documents are read at a time.
const readers = 16

// atATime is how many pods a job has at a time.
func atATime(h api.Handle) int {
	if h.Map != nil {
		return h.Map.Parallelism
	}
	return h.Hosts
}

// stored lists the jobs of the store that are not among the known ones. What
// has no handle, or none that this version can read, is a remnant.
func (p Place) stored(ctx context.Context, known []Entry, f Filter) ([]Entry, error) {
	dirs, err := p.Store.Dirs(ctx)
	if err != nil {
		return nil, err
	}
	have := make(map[string]bool, len(known))
	for _, e := range known {
		have[e.ID] = true
	}
	ids := slices.DeleteFunc(dirs, func(id string) bool { return have[id] || store.CheckID(id) != nil })
	entries := make([]*Entry, len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for i, id := range ids {
		g.Go(func() (err error) {
			entries[i], err = p.storedEntry(ctx, id, f)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	wanted := make([]Entry, 0, len(entries))
	for _, e := range entries {
		if e != nil {
			wanted = append(wanted, *e)
		}
	}
	return wanted, nil
}

// storedEntry says what the store knows of a job; nil is one of another
// namespace or cluster, and a remnant where none is wanted.
func (p Place) storedEntry(ctx context.Context, id string, f Filter) (*Entry, error) {
	data, err := records.ReadBytes(ctx, p.Store, store.Handle(id))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	var h api.Handle
	if err == nil {
		h, err = api.ParseHandle(data)
	}
	if err != nil {
		return p.remnant(ctx, id, f)
	}
	if p.reaches(h) != nil {
		return nil, nil
	}
	status, err := (&Job{Handle: h, Store: p.Store}).gone(ctx)
	if err != nil {
		return nil, err
	}
	return &Entry{ID: id, Namespace: h.Namespace, State: api.NotFound, Function: h.FuncName, Accelerator: h.Accelerator,
		Created: h.CreatedAt, Store: p.Store.URL(), Hosts: atATime(h), Map: h.Map != nil, Details: detailsOf(h), Status: status, labels: h.Labels}, nil
}
