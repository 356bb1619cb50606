// Package resolve turns what a project requires into a list of wheels for a target. It asks
// indexes, and lets uv or pip choose versions. Nothing of a package is executed.
//
// The options of the project's files count for all. uv and pip add their own variables and
// configuration files, and ignore those of the other. For requirements with hashes, which we look
// up ourselves, the variables of both and the indexes of pip.conf count, because the hash decides. Credentials that
// wheels are fetched with come from URLs, also of pip.conf, from variables, from .netrc or from Google, never from a
// keyring or from uv.toml.
package resolve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// Request is what has to be resolved.
type Request struct {
	// Wanted is what the project's files say.
	deps.Wanted
	// Added are requirements of the job's runtime, such as jax[tpu]>=0.4.6, and AddedOptions are
	// options of pip for them, such as --find-links URL. A lock is complete: it gets neither.
	Added, AddedOptions []string
	// Root is the package root, absolute.
	Root   string
	Target wheel.Target
	// FullPython is the version of the target's Python with its patch version, "" if that is not known.
	FullPython string
}

func (w Request) lockOptions(name string) deps.LockOptions {
	return deps.LockOptions{Name: name, Dir: w.Dir, Root: w.Root, Target: w.Target, FullPython: w.FullPython, Extras: w.Extras, Groups: w.Groups, Wanted: w.Named()}
}

// runtimePlace is where the requirements come from that no file has.
const runtimePlace = "the job's runtime"

func (w Request) lines() []deps.Line {
	all := slices.Clone(w.Requirements)
	for _, text := range w.Added {
		all = append(all, deps.Line{Text: text, File: runtimePlace})
	}
	return all
}

// Env is a resolved environment.
type Env struct {
	// Packages are to be installed, sorted by name. Those without a wheel have to be built.
	Packages []deps.Package
	// By is how they were found.
	By Method
}

// NeedsBuild returns a *NeedsBuildError if packages have no wheel, else nil.
func (e Env) NeedsBuild() error {
	var missing []deps.Package
	for _, p := range e.Packages {
		if p.Wheel == nil {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &NeedsBuildError{Packages: missing}
}

// Method is a way to resolve.
type Method string

// The ways to resolve, in the order in which they are tried. Pod means that none of them works
// here: the job has to resolve when it starts.
const (
	Nothing Method = ""
	UVLock  Method = Method(deps.UVLock)
	PyLock  Method = Method(deps.PyLock)
	Hashes  Method = "hashes"
	UV      Method = "uv"
	Pip     Method = "pip"
	Pod     Method = "pod"
)

// Resolver resolves. The zero value uses the process's environment, and has no credentials but
// those in URLs and in variables.
type Resolver struct {
	// HTTP makes the requests, nil means http.DefaultClient.
	HTTP *http.Client
	// Environ are variables as in os.Environ, which nil means. Resolvers get all of them.
	Environ []string
	// LookPath finds programs, nil means exec.LookPath.
	LookPath func(name string) (string, error)
	// Home is where .netrc is, "" for none.
	Home string
	// Token returns an access token for the indexes of Google's Artifact Registry, nil for none.
	Token func(context.Context) (string, error)
	// TempDir is where private files are kept for a moment, "" means os.TempDir.
	TempDir string
	// Show tells the user what happens while a tool runs; nil tells nothing.
	Show func(what string)
	// Python is the interpreter whose pip may resolve, "" means python3 on PATH.
	Python string

	root string // of the machine's own files, "" for /
}

// getenv returns a variable, "" if it is not set.
func (r Resolver) getenv(name string) string {
	environ := r.environ()
	for i := len(environ) - 1; i >= 0; i-- { // the last one counts
		if value, ok := strings.CutPrefix(environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}

func (r Resolver) environ() []string {
	if r.Environ == nil {
		return os.Environ()
	}
	return r.Environ
}

func (r Resolver) lookPath(name string) (string, error) {
	if r.LookPath == nil {
		return exec.LookPath(name)
	}
	return r.LookPath(name)
}

// Client returns a client that fetches the wheels of a wish: it adds the credentials that belong
// to the host of a URL, also after a redirect, and no others.
func (r Resolver) Client(w Request) (*http.Client, error) {
	s, err := r.sources(w)
	return r.clientFor(s), err
}

// sources returns where the packages of a wish come from.
func (r Resolver) sources(w Request) (Sources, error) {
	s, err := r.readSources(slices.Concat(w.Options, w.AddedOptions), w.IndexNames)
	if err != nil && w.Source != "" {
		err = fmt.Errorf("%s: %w", w.Source, err)
	}
	if err != nil {
		return s, &MistakeError{err}
	}
	return s, nil
}

// Method returns how a wish would be resolved, and why so. It contacts nothing, and runs nothing but interpreters, to ask
// them what they are.
func (r Resolver) Method(ctx context.Context, w Request) (way Method, why string) {
	if way, why, ok := w.chosen(); ok {
		return way, why
	}
	if err := w.checkBuilds(); err != nil {
		return Pod, err.Error()
	}
	t, why := r.choose(ctx, w)
	if t == nil {
		return Pod, why
	}
	return t.way(), why
}

// chosen returns how a wish is resolved whose versions are chosen already; false if a tool has to choose them.
func (w Request) chosen() (way Method, why string, ok bool) {
	switch {
	case w.Kind.IsLock():
		return Method(w.Kind), "it names every package", true
	case len(w.Requirements)+len(w.Added) == 0:
		return Nothing, "nothing is required", true
	}
	if _, ok, err := w.pins(); ok || err != nil {
		return Hashes, "every requirement has a version and hashes", true
	}
	return Nothing, "", false
}

// choose returns the tool that resolves a wish, and why; nil if there is none here, and why not.
func (r Resolver) choose(ctx context.Context, w Request) (t tool, why string) {
	if path, err := r.lookPath("uv"); err == nil {
		return uv{path}, path + " resolves for any platform"
	}
	return r.fittingPip(ctx, w)
}

// Resolve returns the packages that a wish needs.
func (r Resolver) Resolve(ctx context.Context, w Request) (Env, error) {
	way, _, ok := w.chosen()
	env := Env{By: way}
	err := w.CheckPython()
	if err != nil {
		return env, err
	}
	switch {
	case !ok:
		env.Packages, env.By, err = r.resolve(ctx, w)
	case way == Hashes:
		env.Packages, err = r.pinned(ctx, w)
	case way != Nothing:
		env.Packages, err = w.locked()
	}
	if err != nil {
		return env, err
	}
	slices.SortFunc(env.Packages, func(a, b deps.Package) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range env.Packages {
		if p.Wheel == nil && p.Source == "" {
			return env, fmt.Errorf("package %s of %s can't be installed: %w", p.Name, w.Source, p.Why)
		}
	}
	return env, nil
}

// CheckPython returns a *MistakeError if the project is not for the target's Python. Locks say themselves what
// they are for.
func (w Request) CheckPython() error {
	if w.Kind.IsLock() {
		return nil
	}
	if err := w.lockOptions("").CheckPython(w.RequiresPython); err != nil {
		return &MistakeError{fmt.Errorf("%s: %w", w.Source, err)}
	}
	return nil
}

// resolve lets uv or pip resolve.
func (r Resolver) resolve(ctx context.Context, w Request) ([]deps.Package, Method, error) {
	if err := w.checkPinned(); err != nil {
		return nil, Pod, err
	}
	if err := w.checkBuilds(); err != nil {
		return nil, Pod, err
	}
	t, why := r.choose(ctx, w)
	switch {
	case ctx.Err() != nil:
		return nil, Pod, fmt.Errorf("looking for what resolves the requirements: %w", context.Cause(ctx))
	case t == nil:
		return nil, Pod, &NotHereError{Target: w.Target, Why: why}
	case r.Show != nil:
		r.Show("resolving with " + string(t.way()))
	}
	sources, err := r.sources(w)
	if err == nil {
		err = r.authorize(ctx, &sources)
	}
	if err != nil {
		return nil, t.way(), err
	}
	j := job{Resolver: r, wish: w, sources: sources, tool: t}
	packages, err := j.run(ctx)
	return packages, t.way(), err
}

type tool interface {
	way() Method
	// command returns the program's path and its arguments.
	command(j *job) (path string, args []string)
	// read reads what it has written.
	read(j *job) ([]deps.Package, error)
}

// checkBuilds returns a *NeedsBuildError if requirements can't come as wheels, whatever an index has.
func (w Request) checkBuilds() error {
	var builds []deps.Package
	for _, l := range w.lines() {
		p := deps.Package{Name: requirement.Normalize(l.Name()), Source: l.Path, Why: fmt.Errorf("%s: %w", l.Place(), deps.ErrNoWheel)}
		if l.Path == "" {
			r, err := requirement.Parse(l.Text)
			if err != nil { // it is only a URL
				r.URL = l.Text
			}
			if wanted, err := r.Marker.Holds(w.lockOptions("").Environment()); err == nil && !wanted {
				continue
			}
			p.Source = r.URL
		}
		if p.Source != "" && !isWheel(p.Source) {
			builds = append(builds, p)
		}
	}
	for _, option := range w.Options {
		if name, ok := strings.CutPrefix(option, "--no-binary "); ok && name != ":none:" {
			builds = append(builds, deps.Package{Name: name, Why: errors.New("--no-binary: its wheels are not wanted")})
		}
	}
	if len(builds) == 0 {
		return nil
	}
	return &NeedsBuildError{Packages: builds}
}

func isWheel(source string) bool {
	if i := strings.IndexAny(source, "#?;[ "); i >= 0 {
		source = source[:i]
	}
	return strings.HasSuffix(source, ".whl")
}
