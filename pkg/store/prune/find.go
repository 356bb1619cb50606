package prune

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Progress says how far Find is.
type Progress struct {
	// Listed is the number of objects.
	Listed int
	// Jobs is how many of Total jobs have been read.
	Jobs, Total int
}

// Find finds what no job names, and what is older than age. It deletes nothing. If one job, or
// something that it names, can't be read, that is an error: it may need anything. progress is called
// by one goroutine at a time.
//
// The order matters. Objects are listed first, and jobs read afterwards. A submit may not have named
// yet what it found in the store, but then it has found it shortly before, and what it finds is
// younger than age.
func Find(ctx context.Context, s store.Store, age time.Duration, progress func(Progress)) (*Plan, error) {
	began := time.Now()
	f := &finder{store: s, report: progress, read: map[hash]bool{}}
	if err := f.list(ctx); err != nil {
		return nil, err
	}
	// The store's clock is known by now.
	before := s.Now().Add(-time.Since(began) - age)
	ids, err := s.Dirs(ctx, "")
	if err != nil {
		return nil, err
	}
	if err := f.follow(ctx, ids); err != nil {
		return nil, err
	}
	f.listing.reduce(before)
	return newPlan(s, f.listing, before, f.outputs), nil
}

// finder is the state of one call of Find.
type finder struct {
	store  store.Store
	report func(Progress)

	mu       sync.Mutex // guards what follows
	listing  listing
	outputs  []Outputs
	read     map[hash]bool // documents that were read, or are being read
	progress Progress
}

// list lists all blobs, several parts of the names at a time, and all directories of data.
func (f *finder) list(ctx context.Context) error {
	const digits = "0123456789abcdef"
	parts := make([]listing, len(digits))
	g, ctx := errgroup.WithContext(ctx)
	for i := range digits {
		g.Go(func() error { return f.listBelow(ctx, store.Blobs()+digits[i:i+1], &parts[i]) })
	}
	f.listing.trees = map[string]*tree{}
	g.Go(func() error { return f.listBelow(ctx, store.Data(), &listing{trees: f.listing.trees}) })
	if err := g.Wait(); err != nil {
		return err
	}
	for i := range parts {
		f.listing.blobs = append(f.listing.blobs, parts[i].blobs...)
		parts[i].blobs = nil
	}
	return nil
}

func (f *finder) listBelow(ctx context.Context, prefix string, to *listing) error {
	const step = 1000 // objects, as many as a bucket lists at a time
	n := 0
	for o, err := range f.store.List(ctx, prefix, "") {
		if err != nil {
			return err
		}
		to.add(o)
		if n++; n%step == 0 {
			f.advance(func(p *Progress) { p.Listed += step })
		}
	}
	f.advance(func(p *Progress) { p.Listed += n % step })
	return nil
}

func (f *finder) advance(change func(*Progress)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.progress)
	f.report(f.progress)
}

// follow reads all jobs.
func (f *finder) follow(ctx context.Context, ids []string) error {
	f.advance(func(p *Progress) { p.Total = len(ids) })
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(store.Parallel)
	for _, id := range ids {
		if store.CheckID(id) != nil { // it can't be a job
			f.advance(func(p *Progress) { p.Total-- })
			continue
		}
		if reading.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := f.job(reading, id); err != nil {
				return ofJob(reading, id, err)
			}
			f.advance(func(p *Progress) { p.Jobs++ })
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// ofJob says what an unreadable object means.
func ofJob(ctx context.Context, id string, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	var newer *api.VersionError
	if errors.As(err, &newer) {
		return fmt.Errorf("job %s: %w; nothing was deleted", id, err)
	}
	return fmt.Errorf("job %s: %w; nothing was deleted, because this job may need anything: try again, or delete the job with kubectl kinetic jobs cleanup %s", id, err, id)
}

// references is what a handle and a call have in common.
type references struct {
	Version int    `json:"version"`
	Client  string `json:"client"`
	Data    []struct {
		Set string `json:"set"`
	} `json:"data"`
}

// job marks all that a job names.
func (f *finder) job(ctx context.Context, id string) error {
	data, err := records.ReadBytes(ctx, f.store, store.Handle(id))
	if errors.Is(err, store.ErrNotFound) {
		return f.withoutHandle(ctx, id)
	}
	if err != nil {
		return err
	}
	handle, err := api.ParseHandle(data)
	if err == nil && handle.JobID != id {
		err = fmt.Errorf("it describes another job, %s", handle.JobID)
	}
	if err != nil {
		return fmt.Errorf("reading %s/%s: %w", f.store.URL(), store.Handle(id), err)
	}
	sets, err := f.references(data, store.Handle(id), api.HandleVersion)
	if err != nil || handle.ByPythonTool() {
		return err
	}
	ofCall, err := f.call(ctx, id)
	if err != nil {
		return err
	}
	for _, set := range append(sets, ofCall...) {
		if err := f.document(ctx, dataSets(), set); err != nil {
			return err
		}
	}
	if err := f.document(ctx, indexes(), handle.BundleSHA256); err != nil {
		return err
	}
	if err := f.document(ctx, environments(), handle.EnvironmentSHA256); err != nil {
		return err
	}
	err = f.open(ctx, store.Environment(id), func(r io.Reader) error { return environments().read(r, f.name) })
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// call returns the data sets of a job's call.
func (f *finder) call(ctx context.Context, id string) ([]string, error) {
	data, err := records.ReadBytes(ctx, f.store, store.Call(id))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil // it was removed with the result, or is just being written
	}
	if err != nil {
		return nil, err
	}
	return f.references(data, store.Call(id), api.CallVersion)
}

// hexWords matches everything that may be the name of a blob or of a directory.
var hexWords = lazyregexp.New(`[0-9a-f]{16,64}`)

// references marks whatever looks like a name in a record of a job, and returns its data sets.
func (f *finder) references(data []byte, name string, newest int) (sets []string, err error) {
	var r references
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("reading %s/%s: %w", f.store.URL(), name, err)
	}
	if r.Version > newest {
		return nil, fmt.Errorf("reading %s/%s: %w", f.store.URL(), name, &api.VersionError{Got: r.Version, Max: newest, Client: r.Client})
	}
	for _, word := range hexWords().FindAll(data, -1) {
		f.name(string(word))
	}
	for _, d := range r.Data {
		sets = append(sets, d.Set)
	}
	return sets, nil
}

func (f *finder) name(word string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listing.name(word)
}

// document marks a document and all that it lists. One that is missing lists nothing: what it named
// is of no use without it, and a submit writes it before the handle. sha256 may be "".
func (f *finder) document(ctx context.Context, k *kind, sha256 string) error {
	if sha256 == "" {
		return nil
	}
	h, ok := parseHash(sha256)
	if !ok {
		return fmt.Errorf("its %s is named %q, which is not a SHA-256", k.what, sha256)
	}
	f.mu.Lock()
	f.listing.name(sha256)
	again := f.read[h]
	f.read[h] = true
	f.mu.Unlock()
	if again {
		return nil
	}
	var below []string
	err := f.open(ctx, store.Blob(sha256), func(r io.Reader) error {
		return verified(r, h, func(r io.Reader) error {
			return k.read(r, func(listed string) {
				f.name(listed)
				if k.of != nil {
					below = append(below, listed)
				}
			})
		})
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("its %s: %w", k.what, err)
	}
	for _, one := range below {
		if err := f.document(ctx, k.of, one); err != nil {
			return err
		}
	}
	return nil
}

// open calls read with an object. Errors name it.
func (f *finder) open(ctx context.Context, name string, read func(io.Reader) error) error {
	r, err := f.store.Open(ctx, name)
	if err != nil {
		return err
	}
	if err := errors.Join(read(r), r.Close()); err != nil {
		return fmt.Errorf("reading %s/%s: %w", f.store.URL(), name, err)
	}
	return nil
}

// verified calls read with bytes, and fails if they don't have a hash.
func verified(r io.Reader, want hash, read func(io.Reader) error) error {
	sum := sha256.New()
	all := io.TeeReader(r, sum)
	if err := read(all); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, all); err != nil {
		return err
	}
	if hash(sum.Sum(nil)) != want {
		return errors.New("the content doesn't match the hash")
	}
	return nil
}

// withoutHandle looks for outputs of a job that was cleaned up. Without a handle, an ID that a program
// made, or an object that a runner has written, shows that there was a job.
func (f *finder) withoutHandle(ctx context.Context, id string) error {
	found := Outputs{ID: id, URL: f.store.URL() + "/" + store.Outputs(id)}
	ours := store.IsMadeID(id)
	for o, err := range f.store.List(ctx, id+"/", "") {
		if err != nil {
			return err
		}
		if !isOutput(id, o.Name) {
			continue
		}
		found.Objects++
		found.Bytes += o.Size
		ours = ours || store.WrittenBy(o) == id
	}
	if found.Objects == 0 || !ours {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.outputs = append(f.outputs, found)
	return nil
}

// isOutput reports whether an object is an output of a job, or of what its runner keeps about them, such as the
// bytes of those that were not finished.
func isOutput(id, name string) bool {
	return strings.HasPrefix(name, store.Outputs(id)) || store.IsSync(id, name)
}
