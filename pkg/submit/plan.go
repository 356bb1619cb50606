package submit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/call"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/render"
)

// Planned is a job that is ready to be started, or shown.
type Planned struct {
	Spec   api.Spec
	Target config.Target
	// Call is the text of call.json.
	Call []byte
	// From is the map whose values Spec.Map takes over, or nil. Inherits are the inputs
	// that have such values, in order.
	From     *job.Job
	Inherits []int
	// Root is the package root, and Files what is packaged from it. Entry is the file in
	// it that is run, "" if there is none.
	Root, Entry string
	Files       *pack.Plan
	// SysPath are the directories, relative to Root, where the job's Python looks for modules of the package, in order.
	SysPath []string
	// Data are the job's inputs.
	Data Inputs
	// Deps are the packages that the project says it needs. Its warnings are not among Warnings:
	// they matter to those who ask what would be installed.
	Deps deps.Wanted
	// Environment says where those packages come from.
	Environment decide.Plan
	// Secrets are the values of Spec.SecretEnv.
	Secrets map[string]string
	Overlay render.Overlay
	// Python is the interpreter that checked the call, "" if none did.
	Python string
	// PlainNetwork is why hosts of GPUs talk over plain TCP, "" if they don't, or if there is one host.
	PlainNetwork string
	// Decorator has the parameters of the function's @kinetic.run, which the job does not follow.
	Decorator []call.Parameter
	// Idle is a warning that the script only defines functions, with what to type instead, or "".
	Idle string
	// Warnings are sentences for the user.
	Warnings []string

	call     api.Call
	payload  call.Payload // of a pickled call
	request  api.Request
	declared call.Declared                                     // the types of arguments
	origin   func(ctx context.Context, root string) api.Origin // nil means nobody
	inputs   inputs                                            // of Spec.Map

	provided   decide.Provided // once it is
	pythonHere string          // the version of this machine's Python, X.Y, if it matters
}

// Plan decides everything about a job. It reads files, asks the local python3 about the
// function, contacts nothing, and writes nothing but the cache of hashes and checks. All
// its errors are mistakes in the input.
func Plan(ctx context.Context, r api.Request, where config.Target, m Machine, id Identity) (Planned, error) {
	p := Planned{Target: where, Secrets: r.Secrets, request: r, origin: m.Origin}
	if err := validate(r); err != nil {
		return p, err
	}
	placement, err := fit(r)
	if err != nil {
		return p, err
	}
	if r.OutputDir, err = outputDir(r, m); err != nil {
		return p, err
	}
	if p.Spec, err = newSpec(r, where, placement); err != nil {
		// Report a mistake in what to run before one in where to run it.
		if mistake := Check(ctx, r, m); mistake != nil {
			err = mistake
		}
		return p, err
	}
	if p.Spec.Budget, err = budget(p.Spec, m.Prices); err != nil {
		return p, err
	}
	p.reachEmulator(m)
	if r.OverlayDir != "" {
		if p.Overlay, err = render.ReadOverlay(r.OverlayDir); err != nil {
			return p, fmt.Errorf("--overlay: %w", err)
		}
	}
	if p.Spec.Data, p.Data, err = findInputs(r, m); err != nil {
		return p, err
	}
	t, err := call.Parse(r.Invocation, m.Cwd)
	if err != nil {
		return p, err
	}
	if err := p.readPayload(&t, m); err != nil {
		return p, err
	}
	if p.inputs, err = mapInputs(r, t, m); err != nil {
		return p, err
	}
	p.Spec.Map = spread(r, p.inputs, nil)
	if r.MapResume == "" { // else Resolve decides how many pods there are
		if err := checkChunks(p.Spec.Map, r.JobID); err != nil {
			return p, err
		}
	}
	if err := p.capture(ctx, t, p.inputs.Inputs, m); err != nil {
		return p, err
	}
	if err := p.chooseEnvironment(r, m); err != nil {
		return p, err
	}
	if err := p.choosePython(ctx, m); err != nil {
		return p, err
	}
	p.identify(r, id)
	p.chooseCache(r, m.User) // after the ID, which is the same for all users
	p.Warnings = append(p.Warnings, p.doubts()...)
	return p, nil
}

// reachEmulator gives the pods the address of the Cloud Storage emulator, if this machine uses one.
func (p *Planned) reachEmulator(m Machine) {
	if m.StorageEmulator != "" && !p.sets(api.EnvStorageEmulator) && p.Spec.Backend != api.BackendLocal {
		p.Spec.Env = append(slices.Clone(p.Spec.Env), api.EnvVar{Name: api.EnvStorageEmulator, Value: m.StorageEmulator})
	}
}

// doubts returns warnings about requests that may not be intended.
func (p Planned) doubts() []string {
	r, s := p.request, p.Spec
	warnings := append(hardwareWarnings(r, s), warmDoubts(r, s)...)
	if r.Debug && s.Capacity.Kind == api.CapacitySpot {
		warnings = append(warnings, "--debug with spot capacity: a preemption ends the debugging session")
	}
	if r.RetryOn == api.RetryOnError && s.Retries == 0 && s.Backend != api.BackendLocal {
		warnings = append(warnings, "--retry-on error has no effect without --retries NUMBER")
	}
	if r.HangAction == api.HangRestart && s.Retries == 0 {
		warnings = append(warnings, "--hang-action restart without --retries NUMBER: a call that hangs fails, and does not start again")
	}
	if r.HangTimeout > 0 && r.OutputMount {
		warnings = append(warnings, "--hang-timeout does not see files written with --output-mount: a call that only writes there counts as hung")
	}
	if list := p.inputs.OneList(); list != "" {
		warnings = append(warnings, "--map "+r.Map+": "+list)
	}
	if r.MapResume == "" { // else Resolve decides how many pods there are
		warnings = append(warnings, rereadWarnings(s.Map, p.inputs.Size)...)
	}
	warnings = append(warnings, p.hubWarnings()...)
	if p.losesOutputs() {
		warnings = append(warnings, fmt.Sprintf("--output-dir %s: no volume is mounted there, so files in it are lost with the pod: mount one with --overlay, or use gs://BUCKET/PREFIX", s.OutputDir))
	}
	return warnings
}

// StoreAccess returns an error if the pod would have no access to the store.
func (p Planned) StoreAccess() error {
	s := p.Spec
	if s.Backend == api.BackendLocal || p.Target.GKE || s.StoreCredentials != "" || slices.ContainsFunc(s.Env, opensStore) {
		return nil
	}
	return fmt.Errorf("store %s: outside GKE a pod has no metadata server that gives it credentials: name a Secret that has them with --store-credentials, or set "+api.EnvStorageEmulator+"; if this is a cluster of GKE, say so with --project", s.Store)
}

// opensStore reports whether a variable alone gives access to the store.
func opensStore(e api.EnvVar) bool {
	return e.Name == api.EnvStorageEmulator || e.Name == api.EnvCredentials
}

// Check finds the mistakes in a request that don't depend on where the job runs. Plan
// finds them, too: Check is for a caller that can't plan.
func Check(ctx context.Context, r api.Request, m Machine) error {
	if err := validate(r); err != nil {
		return err
	}
	if _, err := fit(r); err != nil {
		return err
	}
	t, err := call.Parse(r.Invocation, m.Cwd)
	if err != nil {
		return err
	}
	p := Planned{request: r}
	if err := p.readPayload(&t, m); err != nil {
		return err
	}
	in, err := mapInputs(r, t, m)
	if err != nil {
		return err
	}
	layout, c, _, err := locate(ctx, t, m)
	if err != nil {
		return err
	}
	data, _, err := findInputs(r, m)
	if err != nil {
		return err
	}
	args, err := arguments(c, data)
	if err != nil {
		return err
	}
	_, err = p.check(ctx, c, args, in.Inputs, layout.Root, m.CacheDir)
	return err
}

func locate(ctx context.Context, t call.Target, m Machine) (pack.Layout, api.Call, []string, error) {
	layout, err := pack.FindProject(pack.ProjectOptions{EntryDir: t.EntryDir(), Cwd: m.Cwd, Home: m.Home,
		PackageRoot: m.PackageRoot, PackageRootFrom: m.PackageRootFrom, PythonPath: m.PythonPath, OrNothing: t.Kind == api.CallPickle && t.Path == ""})
	if err != nil {
		return layout, api.Call{}, nil, err
	}
	installed := func(module string) bool { return call.Installed(ctx, platform.Python(), module) }
	c, warnings, err := t.Resolve(layout.SourceTree, installed)
	for _, dir := range layout.PythonPath {
		if c.Kind != api.CallCommand && !slices.Contains(c.SysPath, dir) {
			c.SysPath = append(c.SysPath, dir)
		}
	}
	return layout, c, warnings, err
}

// capture finds and packages the project, and checks the function meanwhile.
func (p *Planned) capture(ctx context.Context, t call.Target, in call.Inputs, m Machine) error {
	layout, c, warnings, err := locate(ctx, t, m)
	if err != nil {
		return err
	}
	exclude, err := p.excluded(layout.Root, m)
	if err != nil {
		return err
	}
	if value := outerPath(m.PythonPath, m.Cwd, layout); p.Spec.Backend == api.BackendLocal && value != m.PythonPath && !p.sets(pythonPath) {
		p.Spec.Env = append(slices.Clone(p.Spec.Env), api.EnvVar{Name: pythonPath, Value: value})
	}
	args, err := arguments(c, p.Spec.Data)
	if err != nil {
		return err
	}
	edited := p.editedSince(m)
	var unchecked []string
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		unchecked, err = p.check(ctx, c, args, in, layout.Root, m.CacheDir)
		return err
	})
	g.Go(func() (err error) {
		p.Deps, err = p.findDeps(layout, t.EntryDir(), c, m)
		return err
	})
	g.Go(func() error {
		if p.needsPython() {
			p.pythonHere = PythonVersion(ctx, m)
		}
		return nil
	})
	g.Go(func() error { return p.Data.read(ctx, &p.Spec, m.CacheDir) })
	g.Go(func() (err error) {
		p.Files, err = pack.PlanProject(ctx, layout, pack.PlanOptions{
			Options:           pack.Options{CacheDir: m.CacheDir, EditedSince: edited, Exclude: exclude, Except: m.Outputs},
			NoDefaultExcludes: m.NoDefaultExcludes, Entry: c.File, SizeWarnBytes: m.SizeWarnBytes})
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if err := p.checkOutputsPlace(); err != nil {
		return err
	}
	if c.KWArgs, err = p.declared.Fit(c.KWArgs, p.request.KWArgs); err != nil {
		return err
	}
	if err := p.installProjects(layout, &c); err != nil {
		return err
	}
	c.Data = p.Spec.Data
	p.Root, p.Entry, p.call = layout.Root, c.File, c
	p.Warnings = slices.Concat(warnings, unchecked, p.Files.Warnings, p.Data.Warnings)
	p.Call, err = json.Marshal(c)
	p.Call = append(p.Call, '\n')
	return errors.Join(err, checkCall(int64(len(p.Call))))
}

// checkOutputsPlace rejects a package with a directory gs:, where a pod has a link to its
// outputs: programs that take gs:// URLs for paths made it.
func (p *Planned) checkOutputsPlace() error {
	if p.Spec.Backend == api.BackendLocal {
		return nil
	}
	for _, f := range p.Files.Index.Files {
		if before, _, found := strings.Cut("/"+f.Path+"/", "/gs:/"); found {
			dir := strings.TrimPrefix(before+"/gs:", "/")
			return fmt.Errorf("cannot package %q: the path gs:/ is reserved for outputs: delete or rename %s (created by a program that took a gs:// URL for a path)", f.Path, dir)
		}
	}
	return nil
}

// pythonPath is the variable that names directories of modules.
const pythonPath = "PYTHONPATH"

// outerPath returns PYTHONPATH with the relative directories outside the package made
// absolute: a local job starts elsewhere.
func outerPath(value, cwd string, layout pack.Layout) string {
	dirs := filepath.SplitList(value)
	for i, dir := range dirs {
		if path := filepath.Join(cwd, dir); dir != "" && !filepath.IsAbs(dir) && !layout.Contains(path) {
			dirs[i] = path
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

func (p *Planned) sets(name string) bool {
	return slices.ContainsFunc(p.Spec.Env, func(e api.EnvVar) bool { return e.Name == name })
}

// excluded returns the directories in the package root that are never packaged: what jobs
// leave behind must not be sent with the next one.
func (p *Planned) excluded(root string, m Machine) ([]string, error) {
	exclude := slices.Concat(m.Exclude, p.Data.Paths)
	if p.Spec.Backend == api.BackendLocal && p.Spec.OutputDir != "" {
		exclude = append(exclude, p.Spec.OutputDir)
	}
	if p.payload.Path != "" {
		exclude = append(exclude, p.payload.Path)
	}
	dir, isDir := strings.CutPrefix(p.Target.Store, store.FileScheme)
	if !isDir {
		return exclude, nil
	}
	if rel, err := filepath.Rel(dir, root); err == nil && filepath.IsLocal(rel) {
		return nil, fmt.Errorf("the store %s contains the code, %s, and would be packaged with it: choose another directory with --store file:///DIR", p.Target.Store, root)
	}
	return append(exclude, dir), nil
}

// check checks whether a function can be called with arguments of these names, in a map with each of its inputs, and
// whether a script can be read. It warns if only the pod can tell.
func (p *Planned) check(ctx context.Context, c api.Call, args []string, in call.Inputs, root, cacheDir string) ([]string, error) {
	isScript := c.Kind == api.CallFile && path.Ext(c.File) == ".py" // others may be archives of Python code
	if c.File == "" || c.Kind != api.CallFunction && !isScript {
		return nil, nil
	}
	found, err := call.Check(ctx, platform.Python(), call.Query{
		Path: filepath.Join(root, filepath.FromSlash(c.File)), Name: c.File, Function: c.Function,
		Args: args, Forms: in.Forms, Values: in.Values, Local: p.Spec.Backend == api.BackendLocal, CacheDir: cacheDir,
	})
	if err != nil {
		err = ofInputs(p.request, err)
		if list := in.OneList(); list != "" {
			err = fmt.Errorf("%w; %s", err, list)
		}
		return nil, err
	}
	if err := checkDecorator(c.File+":"+c.Function, found.Decorator); err != nil {
		return nil, err
	}
	p.Python, p.declared, p.Decorator, p.Idle = found.Python, found.Declared, found.Decorator, found.Idle
	if found.Unchecked != "" {
		return []string{found.Unchecked}, nil
	}
	return nil, nil
}
