package provide

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// prebuilt puts into the store what the pod installs.
func (p *Provider) prebuilt(ctx context.Context, plan decide.Plan, id string) (decide.Provided, error) {
	done := decide.Provided{Plan: plan, Image: plan.Image}
	facts, err := p.facts(ctx, plan)
	var registry *image.RegistryError
	if errors.As(err, &registry) && plan.Wanted.Kind.IsLock() {
		return done, fmt.Errorf("choosing the files of %s, which depend on the base image's Python: %w; or use --python instead of an image that this machine can't read", plan.Wanted.Source, err)
	}
	if errors.As(err, &registry) {
		done, refused := p.unpinned(ctx, plan, facts, id, nil, done) // only the nodes know the base
		return done, (&resolve.NotHereError{Why: registry.Error()}).Explain(refused)
	}
	if err != nil {
		return done, err
	}
	found, pinned, err := p.chosen(ctx, plan)
	if err != nil {
		return done, err
	}
	r := resolved{pins: found}
	if !pinned || found.Python != facts.Python {
		r, err = p.resolve(ctx, plan, facts)
	}
	var notHere *resolve.NotHereError
	var build *resolve.NeedsBuildError
	if errors.As(err, &notHere) || errors.As(err, &build) {
		done, err := p.unpinned(ctx, plan, facts, id, r.packages, done)
		return done, notHere.Explain(err)
	}
	if err != nil {
		return done, err
	}
	done.Wheels, done.Warnings = r.Wheels, r.warnings
	return p.list(ctx, plan, facts, r, done)
}

// chosen returns what was chosen for an earlier job, if it can still be had.
func (p *Provider) chosen(ctx context.Context, plan decide.Plan) (found pins, ok bool, err error) {
	if found, ok = p.pinned(plan); ok && found.Stored {
		ok, err = p.kept(ctx, found)
	}
	if ok || err != nil {
		return found, ok, err
	}
	if found, ok = p.adopt(ctx, plan); ok {
		ok, err = p.kept(ctx, found)
	}
	return found, ok, err
}

// errGone says that the store has lost a wheel that only it had.
var errGone = errors.New("the store has lost a wheel")

// kept reports whether the store has all wheels. It will have them for long enough.
func (p *Provider) kept(ctx context.Context, found pins) (bool, error) {
	if p.DryRun {
		return true, nil // to find out may change their age
	}
	missing := p.missing(ctx, found.Wheels)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, w := range found.Wheels {
		if missing[w.SHA256] {
			g.Go(func() error {
				_, err := p.Store.PutBlob(ctx, w.SHA256, w.Size, func() (io.ReadCloser, error) { return nil, errGone })
				return err
			})
		}
	}
	err := g.Wait()
	if errors.Is(err, errGone) {
		return false, nil
	}
	return err == nil, err
}

// list stores the wheels that the pod installs, and their list.
func (p *Provider) list(ctx context.Context, plan decide.Plan, facts image.Facts, r resolved, done decide.Provided) (decide.Provided, error) {
	r.Wheels = slices.Clone(r.Wheels)
	for i := range r.Wheels {
		p.measured(&r.Wheels[i])
	}
	client, err := p.Resolver.Client(p.wish(plan, facts))
	if err != nil {
		return done, err
	}
	var missing map[string]bool
	if !r.Stored {
		missing = p.missing(ctx, r.Wheels)
	}
	total, err := p.total(ctx, client, r.Wheels, missing)
	if err != nil {
		return done, err
	}
	urls := map[string]string{} // of the wheels that the pod fetches itself
	if total > limit(plan) {
		private, err := p.Resolver.Private(ctx, p.wish(plan, facts))
		if err != nil {
			return done, err
		}
		for _, w := range r.Wheels {
			if missing[w.SHA256] && w.Path == "" && !private(w.URL) {
				urls[w.SHA256] = deps.WithoutUsers(w.URL)
				delete(missing, w.SHA256)
			}
		}
	}
	sent, err := p.storeWheels(ctx, client, r.Wheels, missing)
	if err != nil {
		return done, err
	}
	if done.SHA256, err = p.storeDocument(ctx, listOf(facts.Python, r.Wheels, urls)); err != nil {
		return done, err
	}
	if sent > 0 {
		done.Phase, done.Detail = "packages", fmt.Sprintf("%s, %s sent; the pod installs them", r, human.Bytes(sent))
	}
	return done, nil
}

// measured fills in the size of a wheel that was fetched before. Not every index tells it.
func (p *Provider) measured(w *wheel.Source) {
	if w.Size == 0 {
		p.Images.Memory.Load(sizeKey(*w), &w.Size)
	}
}

func sizeKey(w wheel.Source) string { return "size " + w.SHA256 }

// missing returns which wheels the store may lack, by their SHA-256.
func (p *Provider) missing(ctx context.Context, wheels []wheel.Source) map[string]bool {
	var blobs []api.IndexBlob
	for _, w := range wheels {
		blobs = append(blobs, api.IndexBlob{SHA256: w.SHA256, Size: w.Size})
	}
	has := p.Store.HasBlobs(ctx, blobs)
	missing := map[string]bool{}
	for _, w := range wheels {
		if !has[w.SHA256] {
			missing[w.SHA256] = true
		}
	}
	return missing
}

// total returns how many bytes are missing, as far as somebody says it.
func (p *Provider) total(ctx context.Context, from *http.Client, wheels []wheel.Source, missing map[string]bool) (total int64, err error) {
	var asked []wheel.Source
	for _, w := range wheels {
		if missing[w.SHA256] {
			asked = append(asked, w)
		}
	}
	sizes, err := p.Images.Sizes(ctx, from, asked)
	for _, size := range sizes {
		total += size
	}
	return total, err
}

// parallel is how many wheels are sent at a time.
const parallel = 8

// storeWheels sends wheels to the store, and fills in sizes that were not known.
func (p *Provider) storeWheels(ctx context.Context, from *http.Client, wheels []wheel.Source, missing map[string]bool) (sent int64, err error) {
	if p.DryRun || len(missing) == 0 {
		return 0, nil
	}
	begin := sync.OnceFunc(func() { p.Show.Step("sending them to the store") })
	var total atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for i := range wheels {
		if !missing[wheels[i].SHA256] {
			continue
		}
		g.Go(func() error {
			n, err := p.storeWheel(ctx, from, &wheels[i], begin)
			total.Add(n)
			return err
		})
	}
	err = g.Wait()
	return total.Load(), err
}

// storeWheel sends a wheel unless the store has it. It is fetched only then, if its size is known;
// begin is called before.
func (p *Provider) storeWheel(ctx context.Context, from *http.Client, w *wheel.Source, begin func()) (sent int64, err error) {
	var f *os.File
	fetch := func() (io.ReadCloser, error) {
		if f == nil {
			begin()
			if f, err = p.Images.Fetch(ctx, from, *w); err != nil {
				return nil, err
			}
		}
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		w.Size = info.Size()
		return io.NopCloser(io.NewSectionReader(f, 0, w.Size)), nil
	}
	defer func() {
		if f != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if w.Size == 0 {
		if _, err := fetch(); err != nil {
			return 0, err
		}
		p.Images.Memory.Save(sizeKey(*w), w.Size)
	}
	written, err := p.Store.PutBlob(ctx, w.SHA256, w.Size, fetch)
	if err != nil {
		return 0, fmt.Errorf("storing %s: %w", w.File, err)
	}
	if written {
		sent = w.Size
	}
	return sent, nil
}

func (p *Provider) storeDocument(ctx context.Context, d document) (string, error) {
	text, err := d.text()
	if err != nil || p.DryRun {
		return text.sha256, err
	}
	_, err = p.Store.PutBlob(ctx, text.sha256, int64(len(text.content)), func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text.content)), nil
	})
	if err != nil {
		return "", fmt.Errorf("storing the list of packages: %w", err)
	}
	return text.sha256, nil
}

// nothingToInstall warns of a pod that may ask no index and has no links.
func nothingToInstall(places resolve.Indexes) string {
	text := "the pod can't install packages, because " + places.NoIndex + " disables package indexes"
	for _, dir := range places.Ignored {
		text += ", and " + dir.Address + " is on this machine"
	}
	return text + ": name an index in the project, or install uv or pip here"
}

// unpinned has the pod resolve the requirements. facts are those of the base, if they are known.
func (p *Provider) unpinned(ctx context.Context, plan decide.Plan, facts image.Facts, id string, packages []deps.Package, done decide.Provided) (decide.Provided, error) {
	d, err := wishDocument(plan, packages)
	if err == nil {
		err = d.checkGit(plan)
	}
	if err != nil {
		return done, err
	}
	if !d.Complete {
		unsafe, err := uncompared(plan, "the pod")
		if err != nil {
			return done, err
		}
		done.Warnings = append(done.Warnings, unsafe...)
	}
	wish := p.wish(plan, facts)
	variables, err := p.Resolver.FromVariables(wish)
	if err != nil {
		return done, err
	}
	d.Options = append(variables, d.Options...)
	if plan.Settings.RefreshDeps {
		d.Refresh = id
	}
	if err := d.checkSigned(); err != nil {
		return done, err
	}
	if places, err := p.Resolver.Indexes(wish, resolve.Pod); err != nil {
		return done, err
	} else if places.NoIndex != "" && len(places.Asked) == 0 {
		done.Warnings = append(done.Warnings, nothingToInstall(places))
	}
	if done.SHA256, err = p.storeDocument(ctx, d); err != nil {
		return done, err
	}
	var others []string
	if done.Netrc, others, err = p.Resolver.Netrc(ctx, wish, packages); err != nil {
		return done, err
	}
	for _, host := range others {
		done.Warnings = append(done.Warnings, fmt.Sprintf("%s has several logins, and the pod resolves with the first of them alone: use one for all, or install uv or a suitable pip here", host))
	}
	if !p.DryRun {
		// What was chosen before must not come back: the pod may choose newer versions.
		p.Images.Memory.Delete(pinsKey(plan, ""))
		p.Images.Memory.Delete(pinsKey(plan, p.StoreURL))
		p.Images.Memory.Save(resolvingKey(plan, p.StoreURL), id)
	}
	done.Phase, done.Detail = "packages", "the pod resolves them this time; the next job gets the same ones"
	return done, nil
}

// adopt returns the packages that the pod of an earlier job of the same wish has chosen, if there
// was one, so that this job gets the same ones. They count for that job's user and store alone.
func (p *Provider) adopt(ctx context.Context, plan decide.Plan) (pins, bool) {
	id := ""
	if plan.Settings.RefreshDeps || !p.Images.Memory.Load(resolvingKey(plan, p.StoreURL), &id) {
		return pins{}, false
	}
	text, err := records.ReadBytes(ctx, p.Store, store.Environment(id))
	if err != nil {
		return pins{}, false // it did not get that far, or was deleted: the pod resolves again
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil || d.Version != api.Contract.Versions.Document || len(d.Wheels) == 0 {
		return pins{}, false
	}
	found := pins{Python: d.Python, By: "job " + id, When: p.Now(), Stored: true}
	for _, w := range d.Wheels {
		found.Wheels = append(found.Wheels, wheel.Source{File: w.File, SHA256: w.SHA256, Size: w.Size})
	}
	if !p.DryRun {
		p.Images.Memory.Save(pinsKey(plan, p.StoreURL), found)
	}
	return found, true
}
