package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// FindOptions choose what Find finds.
type FindOptions struct {
	// Remains also finds jobs without a readable handle, for commands that end or remove jobs. Only the handle of
	// a newer version is then an error, and so is the beginning of the ID of a job that is not known to be the user's own.
	Remains bool
	// Unended finds, if several jobs match a word, the only one that has not ended.
	Unended bool
}

// Find finds the jobs that words name: by whole IDs, prefixes, and the digits at their ends. It returns a job or an
// error for each word, in their order: an IDError if no job or several jobs match. If the handle of a job with a
// workload was lost, only what the workload says is known. It lists the jobs at most once, and only if a word
// needs that.
func (reg Registry) Find(ctx context.Context, words []string, o FindOptions) ([]*Job, []error) {
	r := &resolver{registry: reg, options: o, stores: map[string]store.Store{reg.Store.URL(): reg.Store}, handles: map[string]api.Handle{}}
	jobs, errs, exists := make([]*Job, len(words)), make([]error, len(words)), make([]bool, len(words))
	opened := make([]bool, len(words))
	if !o.Remains { // else the workload says which store the job uses
		parallel.Each(Parallel, words, func(i int, word string) {
			jobs[i] = reg.ByID(ctx, word)
			opened[i] = jobs[i] != nil && reg.Reaches(jobs[i].Handle) == nil
		})
	}
	for i, word := range words {
		if !opened[i] {
			jobs[i], exists[i], errs[i] = r.resolve(ctx, word)
		}
	}
	parallel.Each(Parallel, words, func(i int, _ string) {
		if !opened[i] && errs[i] == nil {
			errs[i] = r.open(ctx, jobs[i], words[i], exists[i])
		}
		if errs[i] != nil {
			jobs[i] = nil
		}
	})
	return jobs, errs
}

// FindOne is Find for one word.
func (reg Registry) FindOne(ctx context.Context, word string) (*Job, error) {
	jobs, errs := reg.Find(ctx, []string{word}, FindOptions{})
	return jobs[0], errs[0]
}

type resolver struct {
	registry Registry
	options  FindOptions

	looked    bool
	workloads map[string]api.JobSummary
	unread    error

	listed  bool
	ids     []string // of workloads and of the store
	noStore error    // why the store could not be listed

	stores  map[string]store.Store
	handles map[string]api.Handle // of jobs without a workload, in the usual store, as far as they could be read
}

// open reads the handle of a job that a word names, and checks that the job belongs to this registry. Without a workload and a
// handle, it checks that the directory looks like a job. exists reports whether there is a workload.
func (r *resolver) open(ctx context.Context, j *Job, word string, exists bool) error {
	handle, read := r.handles[j.ID()]
	var err error
	if !read {
		handle, err = readHandle(ctx, j.Store, j.ID())
	}
	missing := errors.Is(err, store.ErrNotFound)
	switch {
	case err == nil:
		j.Handle = handle
	case errors.As(err, new(*api.VersionError)) || !missing && !r.options.Remains:
		return err
	case !exists:
		if err := j.checkOrphan(ctx, r.options.Remains); err != nil {
			return err
		}
		if !r.options.Remains {
			return j.cleanedUp(ctx)
		}
	}
	if elsewhere := r.registry.has(j.Handle, exists); elsewhere != nil || !r.options.Remains {
		return elsewhere
	}
	return checkOwner(word, j.Handle, err == nil)
}

// checkOwner returns an error if a word is only the beginning of the ID of a job that may be another user's, and that a command
// would end or remove. known reports whether the job's handle could be read: a handle without a user is everybody's.
func checkOwner(word string, h api.Handle, known bool) error {
	if !strings.HasPrefix(h.JobID, word) || h.JobID == word || known && (h.User == "" || h.User == CurrentUser()) {
		return nil
	}
	why := fmt.Sprintf("which %s submitted: name another user's job", h.User)
	if !known {
		why = "whose handle can't be read, so that its user is unknown: name it"
	}
	return &IDError{kind: api.KindAmbiguous, next: "name it by its whole ID, " + h.JobID,
		msg: fmt.Sprintf("job %q: only %s matches, %s by its whole ID or its last %d characters", word, h.JobID, why, uniqueDigits)}
}

// NoEnd returns the error about a job without a workload of which nobody knows how it ended.
func (j *Job) NoEnd(ctx context.Context) error {
	if err := j.cleanedUp(ctx); err != nil {
		return err
	}
	return fmt.Errorf("job %s has no workload here, and the store has no record of how it ended; delete its remains with kubectl kinetic jobs cleanup %s%s", j.ID(), j.ID(), j.LocationFlags())
}

// cleanedUp returns the IDError about a job without a workload and without a handle, with Left if its outputs are there. It returns
// nil for a job with a handle.
func (j *Job) cleanedUp(ctx context.Context) error {
	_, err := readHandle(ctx, j.Store, j.ID())
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	switch left, err := store.HasAny(ctx, j.Store, store.Outputs(j.ID())); {
	case err != nil:
		return err
	case left:
		return &IDError{Left: j, next: j.command("outputs"), msg: fmt.Sprintf("job %s was cleaned up; only its outputs are left: list them with %s, delete them with %s",
			j.ID(), j.command("outputs"), j.RemovalOfOutputs(ctx))}
	}
	return &IDError{msg: fmt.Sprintf("job %s was cleaned up", j.ID())}
}

// resolve finds a job and its store. found says that it has a workload; the handle then has
// what that says.
func (r *resolver) resolve(ctx context.Context, word string) (j *Job, found bool, err error) {
	r.listWorkloads(ctx)
	id, err := r.resolveID(ctx, word)
	if err != nil {
		return nil, false, err
	}
	j = r.registry.Job(api.Handle{JobID: id, Backend: r.registry.Kind, Namespace: r.registry.Namespace})
	w, found := r.workloads[id]
	if !found {
		return j, false, nil // if its workload could not be read, the next request for it says so
	}
	j.Handle.FuncName, j.Handle.Accelerator, j.Handle.CreatedAt, j.Handle.Store = w.Function, w.Accelerator, w.Created, w.Store
	j.Handle.Namespace = w.Namespace
	if w.Workload.ByPythonTool {
		j.Handle.BucketName = strings.TrimPrefix(w.Store, store.BucketScheme)
	}
	j.Store, err = r.storeAt(w.Store)
	return j, true, err
}

func (r *resolver) listWorkloads(ctx context.Context) {
	if r.looked {
		return
	}
	r.looked = true
	found, unread := r.registry.list(ctx, api.ListNames)
	r.workloads, r.unread = make(map[string]api.JobSummary, len(found)), unread
	for _, w := range found {
		r.workloads[w.ID] = w
	}
}

// flags returns the flags that a command needs to list the jobs of the registry.
func (r *resolver) flags() string {
	return r.registry.Job(api.Handle{Backend: r.registry.Kind}).LocationFlags()
}

func (r *resolver) resolveID(ctx context.Context, word string) (string, error) {
	if word == "" {
		return "", &IDError{msg: "the job ID is empty; list jobs with kubectl kinetic jobs list" + r.flags(), kind: api.KindUsage}
	}
	if _, whole := r.workloads[word]; whole { // the store need not be listed
		return word, nil
	}
	if !r.listed {
		r.listed = true
		r.ids, r.noStore = r.registry.ids(ctx, r.workloads)
		r.unread = joinUnread(r.unread, r.noStore)
	}
	if r.noStore != nil && !errors.Is(r.noStore, store.ErrNone) {
		return "", r.unread
	}
	hits := Matching(word, r.ids)
	if len(hits) > 0 && hits[0] != word {
		hits = r.inThisRegistry(ctx, hits)
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		if r.unread != nil { // not the user's mistake: the job may be one that could not be read
			return "", fmt.Errorf("job %q not found, but some jobs could not be read: %w", word, r.unread)
		}
		return "", &IDError{msg: unknownID(word, r.ids, r.flags()), next: "kubectl kinetic jobs list --all" + r.flags()}
	}
	candidates := r.candidates(ctx, hits)
	if len(candidates) == 1 {
		return candidates[0].ID, nil
	}
	if id := r.onlyUnended(ctx, candidates); id != "" {
		return id, nil
	}
	return "", errors.Join(&IDError{msg: ambiguousID(word, hits, candidates, r.registry.Time(time.Now())), kind: api.KindAmbiguous,
		next: "kubectl kinetic jobs list --all" + r.flags()}, r.unread)
}

// onlyUnended returns the only candidate that has not ended, "" if a word may not name it: it
// must be the user's own job, and the others must be runs of the same name.
func (r *resolver) onlyUnended(ctx context.Context, candidates []api.JobSummary) string {
	running := slices.DeleteFunc(slices.Clone(candidates), func(e api.JobSummary) bool { return e.State.Ended() })
	if !r.options.Unended || len(running) != 1 {
		return ""
	}
	id := running[0].ID
	for _, e := range candidates {
		if store.WithoutTime(e.ID) != store.WithoutTime(id) {
			return ""
		}
	}
	s, err := r.storeAt(cmp.Or(running[0].Store, r.registry.Store.URL()))
	if err != nil {
		return ""
	}
	if h, err := readHandle(ctx, s, id); err != nil || h.User != "" && h.User != CurrentUser() {
		return ""
	}
	return id
}

// uniqueDigits is the least number of characters at the end of an id that name a job.
const uniqueDigits = 7

// Matching returns the id that equals a word or, if there is none, those that begin with
// it or end in it as their digits. ids are sorted.
func Matching(word string, ids []string) []string {
	if _, ok := slices.BinarySearch(ids, word); ok {
		return []string{word}
	}
	var hits []string
	for _, id := range ids {
		if strings.HasPrefix(id, word) || len(word) >= uniqueDigits && strings.HasSuffix(id, "-"+word) && store.IsMadeID(id) {
			hits = append(hits, id)
		}
	}
	return hits
}

// inThisRegistry returns the ids of jobs of this registry or, if there are none, of jobs of another.
// It leaves out orphans, which must be named by their whole id.
func (r *resolver) inThisRegistry(ctx context.Context, ids []string) []string {
	if len(ids) > manyHits {
		return ids
	}
	here, elsewhere, handles := make([]bool, len(ids)), make([]bool, len(ids)), make([]api.Handle, len(ids))
	parallel.Each(Parallel, ids, func(i int, id string) {
		if _, here[i] = r.workloads[id]; here[i] {
			return
		}
		var err error
		handles[i], err = readHandle(ctx, r.registry.Store, id)
		elsewhere[i] = err == nil && r.registry.Reaches(handles[i]) != nil
		here[i] = !elsewhere[i] && !errors.Is(err, store.ErrNotFound) // one that can't be read is reported once it is chosen
	})
	for i, h := range handles {
		if h.JobID != "" {
			r.handles[ids[i]] = h
		}
	}
	if chosen := where(here, ids); len(chosen) > 0 {
		return chosen
	}
	return where(elsewhere, ids)
}

func where(marked []bool, ids []string) []string {
	var chosen []string
	for i, id := range ids {
		if marked[i] {
			chosen = append(chosen, id)
		}
	}
	return chosen
}

// manyHits is how many matching ids are read one by one, at most.
const manyHits = 200

// candidates returns the jobs with these ids and their states, the newest first; nil if they
// are too many. A job that can't be read has no state, but is listed: the word may mean it.
func (r *resolver) candidates(ctx context.Context, ids []string) []api.JobSummary {
	if len(ids) > manyHits {
		return nil
	}
	found, _ := r.registry.list(ctx, api.ListStates)
	found = slices.DeleteFunc(slices.Clone(found), func(w api.JobSummary) bool { return !slices.Contains(ids, w.ID) })
	more := r.registry.additions()
	defer more.close()
	entries, _ := r.registry.entries(ctx, found, Filter{}, more)
	stored := make([]*api.JobSummary, len(ids))
	parallel.Each(Parallel, ids, func(i int, id string) {
		if _, exists := r.workloads[id]; exists {
			return
		}
		var err error
		if stored[i], err = r.registry.storedEntry(ctx, id, Filter{}); err != nil {
			stored[i] = &api.JobSummary{ID: id, Created: store.TimeOf(id)}
		}
	})
	for id, w := range r.workloads {
		if slices.Contains(ids, id) && !slices.ContainsFunc(entries, func(e api.JobSummary) bool { return e.ID == id }) {
			entries = append(entries, api.JobSummary{ID: id, Created: w.Created, Store: w.Store})
		}
	}
	for _, e := range stored {
		if e != nil {
			entries = append(entries, *e)
		}
	}
	return Filter{}.choose(entries)
}

// storeAt returns the store with a URL. It opens each store once.
func (r *resolver) storeAt(url string) (store.Store, error) {
	if s := r.stores[url]; s != nil {
		return s, nil
	}
	s, err := r.registry.OpenStore(url)
	if err == nil {
		r.stores[url] = s
	}
	return s, err
}

// ids returns the ids of all jobs that have a workload or are in the store. With an error
// it returns those that have a workload.
func (reg Registry) ids(ctx context.Context, found map[string]api.JobSummary) ([]string, error) {
	stored, err := store.IDs(ctx, reg.Store, "")
	ids := slices.AppendSeq(stored, maps.Keys(found))
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// CanBeID reports whether a word is an id, or may be the beginning of one.
func CanBeID(word string) bool {
	return store.CheckID(word) == nil || store.CheckID(word+"0") == nil
}
