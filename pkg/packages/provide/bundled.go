package provide

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// there returns the environment if the registry has the image, and whether it has.
func (p *Provider) there(ctx context.Context, plan decide.Plan) (decide.Provided, bool, error) {
	done := decide.Provided{Plan: plan, Image: plan.Image}
	digest, err := p.Images.Digest(ctx, plan.Image, plan.Arch)
	if err != nil || digest == "" {
		return done, false, err
	}
	done.Digests = []string{digest}
	if !p.Images.Memory.Load(wheelsKey(digest), &done.Wheels) {
		done.Wheels = plan.Locked // which name the image; others may have made it
	}
	if age := p.age(digest); age > old && !plan.IsLock() {
		done.Warnings = []string{fmt.Sprintf("the image has had the same packages for at least %d days: --refresh-deps looks for newer ones", int(age.Hours()/24))}
	}
	if p.DryRun {
		done.Phase, done.Detail = "image", plan.Image+" is there"
	}
	return done, true, nil
}

// look returns what a run would do where an image is to be made, as far as a look finds it out.
func (p *Provider) look(ctx context.Context, plan decide.Plan, at step) (decide.Provided, error) {
	done := decide.Provided{Plan: plan, Image: plan.Image, Phase: "image", Detail: "a run makes " + plan.Image}
	facts, err := p.facts(ctx, plan)
	if err != nil {
		return done, err
	}
	of := p.prospect(ctx, plan, facts)
	if err := of.unable(ctx, at); err != nil || at != here { // Cloud Build sends images as its own account
		return done, err
	}
	done.Detail += of.ifTooLarge(ctx)
	return done, p.Images.CheckPush(ctx, plan.Repository)
}

// make makes the image on this machine. It also returns the packages that were resolved, for
// another way if it fails.
func (p *Provider) make(ctx context.Context, plan decide.Plan) (decide.Provided, []deps.Package, error) {
	facts, err := p.facts(ctx, plan)
	if err != nil {
		return decide.Provided{Plan: plan}, nil, err
	}
	r, err := p.resolve(ctx, plan, facts)
	if err != nil {
		return decide.Provided{Plan: plan}, r.packages, err
	}
	done, err := p.assemble(ctx, plan, facts, r)
	return done, r.packages, err
}

// assemble puts the layers of resolved packages on the base.
func (p *Provider) assemble(ctx context.Context, plan decide.Plan, facts image.Facts, resolved resolved) (decide.Provided, error) {
	done := decide.Provided{Plan: plan, Image: plan.Image}
	done.Wheels, done.Warnings = resolved.Wheels, resolved.warnings
	env := plan.Env(facts.Python, resolved.Wheels)
	wheels, err := p.Resolver.Client(p.wish(plan, facts))
	if err != nil {
		return done, err
	}
	p.Show.Step("making the image")
	base, err := p.fixedBase(ctx, plan)
	if err != nil {
		return done, err
	}
	made, err := p.Images.Make(ctx, plan.Repository, env, image.Options{
		Wheels: wheels, Alias: plan.Tag, Move: plan.Settings.RefreshDeps || plan.InBase, Base: base, Compiler: p.compiler(ctx, facts.Python), Verify: plan.Settings.VerifyLayers, Mend: p.lost(plan), Limit: limit(plan), Progress: p.Show.Making,
	})
	done.Warnings = append(done.Warnings, made.Warnings...)
	if err != nil {
		return done, err
	}
	done.Digests, done.Builder = []string{made.Digest}, decide.BuilderClient
	if made.Taken { // another client was faster, and may have chosen others
		done.Wheels = nil
	} else {
		p.Images.Memory.Save(wheelsKey(made.Digest), done.Wheels)
	}
	done.Phase = "image"
	done.Detail = fmt.Sprintf("%s, %s, %s sent", resolved, human.Count(made.Layers, "new layer"), human.Bytes(made.Sent))
	switch {
	case p.lost(plan):
		done.Detail += "; the registry had lost a part of the image"
	case made.There:
		done.Detail = resolved.String() + ", the image was there"
	}
	return done, nil
}

// defaultLimit is how many bytes are sent from this machine if nobody says. JAX for TPUs has 281 MiB.
const defaultLimit = 512 << 20

func limit(plan decide.Plan) int64 {
	if plan.Settings.UploadLimit > 0 {
		return plan.Settings.UploadLimit
	}
	return defaultLimit
}

func wheelsKey(digest string) string { return "wheels " + digest }

// fixedBase returns the base with its digest. One of the table that has none there keeps the one that
// it had when this machine used it first, until newer versions are asked for.
func (p *Provider) fixedBase(ctx context.Context, plan decide.Plan) (string, error) {
	if !plan.Base.Known || strings.Contains(plan.Base.Ref, "@") {
		return plan.Base.Ref, nil
	}
	digest, key := "", "digest "+plan.Base.Ref
	if !plan.Settings.RefreshDeps && p.Images.Memory.Load(key, &digest) && digest != "" {
		return plan.Base.Ref + "@" + digest, nil
	}
	digest, err := p.Images.BaseDigest(ctx, plan.Base.Ref, plan.Arch)
	if err != nil || digest == "" {
		return plan.Base.Ref, err // reading it says why there is none
	}
	p.Images.Memory.Save(key, digest)
	return plan.Base.Ref + "@" + digest, nil
}

func (p *Provider) facts(ctx context.Context, plan decide.Plan) (image.Facts, error) {
	if plan.Base.Known {
		return plan.Base.Facts(plan.Arch), nil
	}
	return p.Images.Inspect(ctx, plan.Base.Ref, plan.Arch)
}

// compiler returns an interpreter of the same version here, if there is one. Its bytecode is what
// the image's would make.
func (p *Provider) compiler(ctx context.Context, python string) wheel.Compiler {
	for _, name := range []string{p.Python, "python" + python} {
		if name == "" {
			continue
		}
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, path, "-I", "-S", "-c", "import sys; print('%d.%d' % sys.version_info[:2], sys.implementation.name)").Output()
		if err == nil && strings.TrimSpace(string(out)) == python+" cpython" {
			return wheel.Compiler{Python: path}
		}
	}
	return wheel.Compiler{}
}

// resolved are the packages of an environment. If some have no wheel, there are no wheels at all.
type resolved struct {
	pins
	packages []deps.Package
	warnings []string
}

// String says how many packages there are, and what has chosen them.
func (r resolved) String() string {
	return fmt.Sprintf("%s (%s)", human.Count(len(r.Wheels), "package"), r.By)
}

// resolve returns the wheels that a plan needs. What was resolved before stays as it is, until
// newer versions are asked for.
func (p *Provider) resolve(ctx context.Context, plan decide.Plan, facts image.Facts) (resolved, error) {
	if found, ok := p.usable(plan, facts); ok {
		r := resolved{pins: found, packages: packagesOf(found.Wheels), warnings: secondJAX(plan, found.Wheels)}
		if age := p.Now().Sub(found.When); age > old && !plan.IsLock() {
			r.warnings = append(r.warnings, fmt.Sprintf("the versions of packages are %d days old: --refresh-deps looks for newer ones", int(age.Hours()/24)))
		}
		return r, nil
	}
	wish := p.wish(plan, facts)
	with := p.Resolver
	with.Show = p.Show.Step
	env, err := with.Resolve(ctx, wish)
	if err != nil {
		return resolved{}, err
	}
	r := resolved{pins: pins{Python: facts.Python, By: string(env.By), When: p.Now()}, packages: env.Packages}
	if err := env.NeedsBuild(); err != nil {
		return r, err
	}
	r.Wheels, _ = decide.Wheels(env.Packages)
	r.warnings = secondJAX(plan, r.Wheels)
	if env.By == resolve.Hashes {
		r.By = plan.Wanted.Source
	}
	if !plan.Wanted.Kind.IsLock() { // which is read as fast
		p.Images.Memory.Save(pinsKey(plan, ""), r.pins)
	}
	return r, nil
}

// secondJAX warns of a JAX that hides the one of a base from build-image, because a package requires it. The plugin for the
// accelerator is the base's, unless another is installed, too.
func secondJAX(plan decide.Plan, wheels []wheel.Source) []string {
	asked := func(l deps.Line) bool { return requirement.Normalize(l.Name()) == "jax" }
	if !plan.HasRuntime() || !plan.Base.Runtime || plan.AddsRuntime() || plan.IsLock() || slices.ContainsFunc(plan.Wanted.Requirements, asked) ||
		strings.HasPrefix(plan.Base.Ref, decide.BaseName(plan.Settings.BaseImageRepo, api.CPU)+":") {
		return nil
	}
	var said []string
	for _, w := range wheels {
		n, err := wheel.ParseName(w.File)
		switch {
		case err != nil:
		case strings.HasPrefix(n.Project(), "jax-cuda"), n.Project() == "libtpu":
			return nil
		case n.Project() == "jax":
			said = []string{fmt.Sprintf("a package requires jax, and version %s hides the one of the base image %s, whose plugin for the accelerator may not fit it: "+
				"add --runtime jax to install both, or limit jax to the base's version in a file of -c", n.Version, plan.Base.Ref)}
		}
	}
	return said
}

// usable returns what a wish was resolved to, if an image can be made of it.
func (p *Provider) usable(plan decide.Plan, facts image.Facts) (pins, bool) {
	found, ok := p.pinned(plan)
	return found, ok && found.Python == facts.Python && !found.Stored
}

func packagesOf(wheels []wheel.Source) []deps.Package {
	packages := make([]deps.Package, 0, len(wheels))
	for _, w := range wheels {
		name, err := wheel.ParseName(w.File)
		if err != nil {
			return nil // choose again
		}
		packages = append(packages, deps.Package{Name: name.Project(), Wheel: &w})
	}
	return packages
}

func (p *Provider) wish(plan decide.Plan, facts image.Facts) resolve.Request {
	return resolve.Request{Wanted: plan.Wanted, Added: plan.Added, AddedOptions: plan.AddedOptions, Root: plan.Root,
		Target: facts.Target(), FullPython: facts.FullPython}
}
