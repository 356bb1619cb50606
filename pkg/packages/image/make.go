package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// Options are how an image is made.
type Options struct {
	Wheels   *http.Client   // fetches wheels from their URLs
	Alias    string         // another tag that the image gets
	Move     bool           // gives it that tag even if another image has it
	Base     string         // by which the base is read, such as its digest; "" for Env.Base
	Compiler wheel.Compiler // for bytecode; there is none if its Python is ""
	Verify   bool           // believe no note: convert every wheel here
	Mend     bool           // look for every layer, even if the tag is there: the registry may have lost a part
	Limit    int64          // the most bytes of wheels to convert and send; 0 is no limit
	Progress func(Progress) // called for every change, not by several goroutines at once
}

// Progress is how far the making of an image is.
type Progress struct {
	Wheels int   // of the environment
	Done   int   // wheels whose layer is in the registry
	Sent   int64 // bytes, to registries
}

// Made is an image in a registry.
type Made struct {
	Image  string // "REPOSITORY@sha256:…"
	Digest string
	There  bool // nothing had to be made
	Taken  bool // the other tag is that of another client's image
	Layers int  // that were made
	Sent   int64

	Warnings []string // sentences for the user
}

// LimitError says that more would have to be sent than is allowed.
type LimitError struct {
	Bytes, Limit int64
	Wheels       int
}

// Error says how much it is, and which flag allows more.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s with %s would have to be sent from this machine, and --image-upload-limit is %s", human.Count(e.Wheels, "package"), human.Bytes(e.Bytes), human.Bytes(e.Limit))
}

// Make makes sure that a repository has the image of an environment, under its tag. It makes
// what is missing. Clients may do so at the same time. Made is filled in as far as it is
// known even if there is an error.
func (c *Client) Make(ctx context.Context, repository string, e Env, o Options) (made Made, err error) {
	tag, err := e.Tag()
	if err != nil {
		return Made{}, err
	}
	repo, err := name.NewRepository(repository)
	if err != nil {
		return Made{}, fmt.Errorf("the repository for images: %w", err)
	}
	m := &maker{repo: repo, options: o}
	if m.env, err = e.check(); err != nil {
		return Made{}, err
	}
	m.progress.Wheels = len(e.Wheels)
	if m.session, err = c.session(e.Arch); err != nil {
		return Made{}, err
	}
	m.traffic = &traffic{base: c.transport(), changed: m.report}
	m.pushing = c.options(e.Arch, m.traffic)
	if err := m.forget(); err != nil {
		return Made{}, err
	}
	if m.dir, err = os.MkdirTemp(c.TempDir, "kinetic-image-"); err != nil {
		return Made{}, fmt.Errorf("make a directory for wheels: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(m.dir)) }()
	m.fetcher = fetcher{cmp.Or(o.Wheels, http.DefaultClient), func() (*os.File, error) { return os.CreateTemp(m.dir, "wheel-") }}
	err = m.run(ctx, repo.Tag(tag))
	m.made.Sent = m.traffic.sent.Load()
	if m.made.Digest != "" {
		m.made.Image = repo.Name() + "@" + m.made.Digest
	}
	return m.made, err
}

type maker struct {
	*session
	repo    name.Repository
	env     Env
	options Options
	dir     string
	fetcher fetcher
	traffic *traffic
	pushing []remote.Option
	push    *remote.Pusher

	mu       sync.Mutex
	progress Progress
	made     Made
}

// forget makes the maker look again for what it has sent: a Pusher remembers it.
func (m *maker) forget() (err error) {
	m.push, err = remote.NewPusher(m.pushing...)
	return err
}

// again reports whether the image is made although its tag is there.
func (m *maker) again() bool { return m.options.Verify || m.options.Mend }

func (m *maker) run(ctx context.Context, tag name.Tag) error {
	before, err := m.digestOf(ctx, tag)
	if err != nil {
		return err
	}
	if before != "" && !m.again() {
		m.made.There = true
		m.made.Digest, err = m.alias(ctx, tag, before, nil)
		return err
	}
	base, facts, err := m.base(ctx, cmp.Or(m.options.Base, m.env.Base), m.env.Arch)
	if err != nil {
		return err
	}
	if facts.Python != m.env.Layout.Python {
		return &BaseError{m.env.Base, fmt.Errorf("it has Python %s, and the environment is for %s", facts.Python, m.env.Layout.Python)}
	}
	believe := !m.options.Verify
	err = m.attempt(ctx, tag, base, facts, believe)
	if believe && lost(err) {
		// A layer that a note speaks of is gone.
		if err := m.forget(); err != nil {
			return err
		}
		m.restart()
		err = m.attempt(ctx, tag, base, facts, false)
	}
	m.made.There = err == nil && before == m.made.Digest
	if err == nil && before != "" && !m.made.There {
		m.warn("%s was %s and is replaced, because this machine built %s from the same packages: if the base image has not changed, find out who can write to the repository", tag.Name(), before, m.made.Digest)
	}
	return err
}

func (m *maker) attempt(ctx context.Context, tag name.Tag, base v1.Image, f Facts, believe bool) error {
	free, err := room(base)
	if err != nil {
		return &BaseError{m.env.Base, err}
	}
	layers, err := m.layers(ctx, free, believe)
	if err != nil {
		return err
	}
	first, prefix, err := m.place(ctx, f)
	if err != nil {
		return err
	}
	image, err := compose(base, prefix, append(first, layers...))
	if err != nil {
		return &BaseError{m.env.Base, err}
	}
	m.made.Digest, err = m.put(ctx, tag, base, first, image)
	return err
}

// place returns the layer that makes a place for the wheels, and the prefix of the environment.
// There is neither if the base's own Python is the place.
func (m *maker) place(ctx context.Context, f Facts) ([]layer, string, error) {
	if m.env.InBase {
		if own := "/" + m.env.Layout.Prefix + "/bin/python" + f.Python; f.Interpreter != own {
			return nil, "", &BaseError{m.env.Base, fmt.Errorf("its Python is %s, and packages can be added to %s only, as in Docker's python images", f.Interpreter, own)}
		}
		return nil, "", nil
	}
	venv, err := wheel.Venv(ctx, m.env.Layout, f.Interpreter, f.Environment)
	if err != nil {
		return nil, "", err
	}
	first, err := newLayer(venv)
	return []layer{first}, m.env.Layout.Prefix, err
}

// put sends what an image consists of beside the wheels' layers, and at last its manifest.
// If another client was faster, its image is the one: jobs may be using it.
func (m *maker) put(ctx context.Context, tag name.Tag, base v1.Image, own []layer, image v1.Image) (string, error) {
	parts, err := base.Layers()
	if err != nil {
		return "", &BaseError{m.env.Base, err}
	}
	config, err := partial.ConfigLayer(image)
	if err != nil {
		return "", err
	}
	parts = append(parts, config)
	for _, l := range own {
		parts = append(parts, l)
	}
	sizes := make([]int64, len(parts))
	for i, part := range parts {
		if sizes[i], err = part.Size(); err != nil {
			return "", &BaseError{m.env.Base, err}
		}
	}
	err = inLanes(ctx, sizes, func(ctx context.Context, i int) error { return m.push.Upload(ctx, m.repo, parts[i]) })
	if err != nil {
		return "", failed(ctx, "sending the base image "+m.env.Base+" to", m.repo, err)
	}
	faster, err := m.digestOf(ctx, tag)
	if err != nil {
		return "", err
	}
	if faster != "" && !m.again() {
		return m.alias(ctx, tag, faster, nil)
	}
	if err := m.push.Put(ctx, tag, image); err != nil {
		return "", failed(ctx, "putting the image "+tag.TagStr()+" into", m.repo, err)
	}
	digest, err := image.Digest()
	if err != nil {
		return "", err
	}
	return m.alias(ctx, tag, digest.String(), image)
}

// alias gives an image that the registry has its other name, and returns the digest that this name
// stands for: if another client was faster, that of its image, since jobs may be using it. image
// may be nil.
func (m *maker) alias(ctx context.Context, tag name.Tag, digest string, image remote.Taggable) (string, error) {
	if m.options.Alias == "" || m.options.Alias == tag.TagStr() {
		return digest, nil
	}
	t := m.repo.Tag(m.options.Alias)
	if !m.options.Move && !m.again() {
		if faster, err := m.digestOf(ctx, t); faster != "" || err != nil {
			m.made.Taken = faster != "" && faster != digest
			return faster, err
		}
	}
	var err error
	if image == nil {
		image, err = m.pull.Get(ctx, m.repo.Digest(digest))
	}
	if err == nil {
		err = m.push.Put(ctx, t, image)
	}
	if err != nil {
		return "", failed(ctx, "naming the image "+t.TagStr()+" in", m.repo, err)
	}
	return digest, nil
}

// report tells the progress.
func (m *maker) report() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.options.Progress != nil {
		m.progress.Sent = m.traffic.sent.Load()
		m.options.Progress(m.progress)
	}
}

// done counts wheels whose layer is in the registry.
func (m *maker) done(wheels int) {
	m.mu.Lock()
	m.progress.Done += wheels
	m.mu.Unlock()
	m.report()
}

func (m *maker) restart() {
	m.mu.Lock()
	m.progress.Done = 0
	m.mu.Unlock()
}

// warn keeps a sentence for the user, once.
func (m *maker) warn(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(m.made.Warnings, text) {
		m.made.Warnings = append(m.made.Warnings, text)
	}
}
