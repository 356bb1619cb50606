package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/nearest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Found is a workload that exists.
type Found struct {
	ID          string
	Namespace   string // empty for a local job
	Store       string // URL
	Function    string
	Accelerator string
	// Bucket is that of a job of the Python tool, "" for any other.
	Bucket string
	// Hosts is how many there are at a time, 0 where that is not known.
	Hosts int
	// Map says that the job calls its function once for each of many inputs.
	Map     bool
	Node    string
	Created time.Time
	Status  api.Status
}

// Place is where jobs live: their workloads, and the stores they use.
type Place struct {
	Workload Workload
	// OfJobs is Workload for what is known to be a Job of Kubernetes: to look for one
	// takes no right to see LeaderWorkerSets. nil where there is no difference.
	OfJobs Workload
	// Backend is that of the workloads.
	Backend api.Backend
	// Namespace and Cluster are where workloads are looked for, "" for all of
	// them and for local jobs. Cluster is "" also where its name is only supposed.
	Namespace, Cluster string
	// ClusterID tells the cluster from any other, whatever it is called, and Server is
	// the URL of its API server; "" for local jobs.
	ClusterID, Server string
	// List tells which workloads exist, in any order. Next to an error it gives
	// those that it could read.
	List func(ctx context.Context, detail api.Detail) ([]Found, error)
	// Watch calls seen with all workloads, then with those that may have
	// changed, until ctx is over, seen fails, or the place can't be read. One
	// that is gone is NotFound.
	Watch func(ctx context.Context, detail api.Detail, seen func([]Found) error) error
	// RemoveRunners removes runners that no job needs any more, and returns their
	// names; nil where jobs share none.
	RemoveRunners func(ctx context.Context) ([]string, error)
	// OpenStore opens the store of a workload, by its URL.
	OpenStore func(url string) (store.Store, error)
	// Store is where jobs are looked for that have no workload any more.
	Store store.Store
	// Flags take a command line to this place, but for the namespace:
	// " --context dev". Empty where no flag does.
	Flags string
}

// Job is the job that a handle describes and whose records are in the usual store.
func (p Place) Job(h api.Handle) *Job {
	return &Job{Handle: h, Store: p.Store, Workload: p.workloadOf(h), Flags: p.Flags}
}

// NewJob is a job that is to be submitted here.
func (p Place) NewJob(s api.Spec) *Job {
	h := api.NewHandle(s)
	h.ClusterName, h.ClusterID, h.Server = p.Cluster, p.ClusterID, p.Server
	if p.Cluster == "" {
		h.Zone = "" // which is as much supposed
	}
	return p.Job(h)
}

// workloadOf is what runs the job that a handle describes.
func (p Place) workloadOf(h api.Handle) Workload {
	if p.OfJobs != nil && strings.HasPrefix(h.K8sName, api.JobNamePrefix) {
		return p.OfJobs
	}
	return p.Workload
}

// IDError is an id that names no job, or more than one.
type IDError struct{ msg string }

func (e *IDError) Error() string { return e.msg }

// Attach finds the job that an id, or a prefix of one that no other job has,
// names. The error is an IDError when there is no such job or several. A job
// whose handle was lost is known by its workload alone.
func (p Place) Attach(ctx context.Context, prefix string) (*Job, error) {
	if j := p.Exact(ctx, prefix); j != nil && p.reaches(j.Handle) == nil {
		return j, nil
	}
	j, found, err := p.look(ctx).find(ctx, prefix)
	if err != nil {
		return nil, err
	}
	handle, err := readHandle(ctx, j.Store, j.ID())
	switch {
	case err == nil:
		j.Handle, j.Workload = handle, p.workloadOf(handle)
		return j, p.has(handle, found)
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	case found:
		return j, nil
	default:
		if err := j.checkRemnant(ctx); err != nil {
			return nil, err
		}
		return nil, &IDError{fmt.Sprintf("job %s: %s has no handle of it: it was cleaned up, but for what lies in %s/%s; jobs cleanup %s --outputs removes that",
			j.ID(), j.Store.URL(), j.Store.URL(), j.ID(), j.ID())}
	}
}

// Exact is the job whose whole id was given and whose handle lies in the usual
// store, which one request tells; nil for any other, or when there is doubt.
func (p Place) Exact(ctx context.Context, id string) *Job {
	if store.CheckID(id) != nil {
		return nil
	}
	handle, err := readHandle(ctx, p.Store, id)
	if err != nil {
		return nil
	}
	return p.Job(handle)
}

// Open is AttachAll for a job that was listed.
func (p Place) Open(ctx context.Context, e Entry) (*Job, error) {
	j := p.Job(api.Handle{JobID: e.ID, Backend: p.Backend, Namespace: e.Namespace})
	if e.Store != p.Store.URL() {
		var err error
		if j.Store, err = p.OpenStore(e.Store); err != nil {
			return nil, err
		}
	}
	_, err := p.recall(ctx, j)
	return j, err
}

// recall reads the handle if there is one that can be read, and tells whether there
// was. Only that of a newer version is an error.
func (p Place) recall(ctx context.Context, j *Job) (bool, error) {
	handle, err := readHandle(ctx, j.Store, j.ID())
	var newer *api.VersionError
	if errors.As(err, &newer) {
		return false, err
	}
	if err == nil {
		j.Handle, j.Workload = handle, p.workloadOf(handle)
	}
	return err == nil, nil
}

// look is what a place told when it was looked at.
type look struct {
	place     Place
	workloads map[string]Found
	unread    error
	ids       []string // of the store too; nil until they are needed
	stores    map[string]store.Store
}

func (p Place) look(ctx context.Context) *look {
	found, unread := p.List(ctx, api.TellNames)
	l := &look{place: p, workloads: make(map[string]Found, len(found)), unread: unread, stores: map[string]store.Store{p.Store.URL(): p.Store}}
	for _, w := range found {
		l.workloads[w.ID] = w
	}
	return l
}

// find chooses a job and its store, and tells what its workload tells of it;
// found says that there is one.
func (l *look) find(ctx context.Context, prefix string) (j *Job, found bool, err error) {
	id, err := l.match(ctx, prefix)
	if err != nil {
		return nil, false, err
	}
	j = l.place.Job(api.Handle{JobID: id, Backend: l.place.Backend, Namespace: l.place.Namespace})
	w, found := l.workloads[id]
	if !found {
		return j, false, nil // were it one that could not be read, asking for it tells
	}
	j.Handle.FuncName, j.Handle.Accelerator, j.Handle.CreatedAt, j.Handle.Store = w.Function, w.Accelerator, w.Created, w.Store
	j.Handle.Namespace, j.Handle.BucketName = w.Namespace, w.Bucket
	j.Store, err = l.storeAt(w.Store)
	return j, true, err
}

// match is the id that a prefix names.
func (l *look) match(ctx context.Context, prefix string) (string, error) {
	if _, whole := l.workloads[prefix]; whole { // which needs no look into the store
		return prefix, nil
	}
	if l.ids == nil {
		var err error
		if l.ids, err = l.place.ids(ctx, l.workloads); err != nil {
			l.unread = errors.Join(l.unread, err)
		}
		if err != nil && !errors.Is(err, store.ErrNone) {
			return "", l.unread
		}
	}
	hits := beginningWith(prefix, l.ids)
	if len(hits) > 0 && hits[0] != prefix {
		hits = l.known(ctx, hits)
	}
	id, err := only(prefix, hits, l.ids)
	if err != nil {
		err = errors.Join(err, l.unread)
	}
	return id, err
}

// known are those of the ids that are jobs of this place; if none is, those that are
// jobs of another. A remnant has to be named in full.
func (l *look) known(ctx context.Context, ids []string) []string {
	if len(ids) > manyHits {
		return ids
	}
	here, elsewhere := make([]bool, len(ids)), make([]bool, len(ids))
	var g errgroup.Group
	g.SetLimit(readers)
	for i, id := range ids {
		if _, here[i] = l.workloads[id]; here[i] {
			continue
		}
		g.Go(func() error {
			h, err := readHandle(ctx, l.place.Store, id)
			elsewhere[i] = err == nil && l.place.reaches(h) != nil
			here[i] = !elsewhere[i] && !errors.Is(err, store.ErrNotFound) // one that can't be read is told once it is chosen
			return nil
		})
	}
	_ = g.Wait() // there are none
	if chosen := where(here, ids); len(chosen) > 0 {
		return chosen
	}
	return where(elsewhere, ids)
}

// where are the ids that are marked.
func where(marked []bool, ids []string) []string {
	var chosen []string
	for i, id := range ids {
		if marked[i] {
			chosen = append(chosen, id)
		}
	}
	return chosen
}

// manyHits is when ids that begin alike are too many to look at each.
const manyHits = 200

// storeAt opens each store once.
func (l *look) storeAt(url string) (store.Store, error) {
	if s := l.stores[url]; s != nil {
		return s, nil
	}
	s, err := l.place.OpenStore(url)
	if err == nil {
		l.stores[url] = s
	}
	return s, err
}

func readHandle(ctx context.Context, s store.Store, id string) (api.Handle, error) {
	data, err := readObject(ctx, s, store.Handle(id))
	if err != nil {
		return api.Handle{}, fmt.Errorf("job %s: %w", id, err)
	}
	h, err := api.ParseHandle(data)
	if err != nil {
		return h, fmt.Errorf("job %s: %s/%s: %w", id, s.URL(), store.Handle(id), err)
	}
	if h.JobID != id {
		return h, fmt.Errorf("job %s: %s/%s describes another job, %s; jobs cleanup %s removes it", id, s.URL(), store.Handle(id), h.JobID, id)
	}
	return h, nil
}

// ids lists every job that has a workload or lies in the store. Next to an error it
// gives those that have a workload.
func (p Place) ids(ctx context.Context, found map[string]Found) ([]string, error) {
	stored, err := p.Store.Dirs(ctx)
	ids := make([]string, 0, len(found)+len(stored))
	for id := range found {
		ids = append(ids, id)
	}
	for _, id := range stored {
		if store.CheckID(id) == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// beginningWith are the ids that begin with a word, or the one that equals it.
func beginningWith(word string, ids []string) []string {
	if _, ok := slices.BinarySearch(ids, word); ok {
		return []string{word}
	}
	var hits []string
	for _, id := range ids {
		if word != "" && strings.HasPrefix(id, word) {
			hits = append(hits, id)
		}
	}
	return hits
}

// only is the one hit of a prefix among ids.
func only(prefix string, hits, ids []string) (string, error) {
	if prefix == "" {
		return "", &IDError{"the job id is empty; kubectl kinetic jobs list shows them"}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		return "", &IDError{unknownID(prefix, ids)}
	default:
		return "", &IDError{fmt.Sprintf("job %q: %d jobs begin with it: %s; give more of the id", prefix, len(hits), some(hits, 5))}
	}
}

func unknownID(prefix string, ids []string) string {
	if len(ids) == 0 {
		return fmt.Sprintf("job %q: there are no jobs here", prefix)
	}
	near := nearIDs(prefix, ids, 3)
	if len(near) == 0 {
		return fmt.Sprintf("job %q: no such job; kubectl kinetic jobs list --all shows what there is", prefix)
	}
	return fmt.Sprintf("job %q: no such job; the nearest: %s", prefix, strings.Join(near, ", "))
}

// nearIDs finds ids that are like a word, or that begin like it: nobody types
// the time of a job. Of jobs that begin alike it takes the newest.
func nearIDs(word string, ids []string, n int) []string {
	newest := map[string]string{}
	for _, id := range ids { // sorted, so that the last is the newest
		newest[store.WithoutTime(id)] = id
	}
	candidates := slices.Concat(ids, slices.Collect(maps.Keys(newest)))
	var near []string
	for _, c := range nearest.Of(word, candidates, len(candidates)) {
		if id, ok := newest[c]; ok {
			c = id
		}
		if !slices.Contains(near, c) && len(near) < n {
			near = append(near, c)
		}
	}
	return near
}

// some joins at most n words and counts the others.
func some(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], ", "), len(words)-n)
}
