package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/packaging"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// resolve checks that the cluster can mount the job's volumes before anything is sent, looks up
// what the plan leaves open, and makes sure that the job's packages are there.
func (o *options) resolve(ctx context.Context, p submit.Planned, to destination) (submit.Planned, error) {
	if to.cluster != nil {
		if err := to.cluster.CheckVolumes(ctx, p.Spec); err != nil {
			return p, err
		}
	}
	warned := len(p.Warnings)
	if o.mode.submits() {
		resolved, err := o.lookUp(ctx, p, to.registry)
		if err != nil {
			return p, submitError(err)
		}
		if p = resolved; p.Complete() {
			return p, nil
		}
	}
	if p.Spec.Backend != api.BackendLocal {
		var err error
		if p, err = o.withPackages(ctx, p, to.registry.Store); err != nil {
			return p, err
		}
	}
	o.warn(p.Warnings[warned:])
	return p, nil
}

// provider returns what provides the packages of a job, without a store. It contacts nothing.
func (o *options) provider(ctx context.Context, p submit.Planned) *provide.Provider {
	maker := packaging.Provider(ctx, packaging.Place{Project: p.Spec.Project, Zone: p.Spec.Zone, Cluster: p.Spec.Cluster}, o.machine.CacheDir, o.clock.Now)
	maker.StoreURL = p.Spec.Store
	return maker
}

// withPackages returns a plan with the job's packages, and with the Pathways runtime that fits them. A version that the user
// names is looked for before the packages: to make their image takes longer.
func (o *options) withPackages(ctx context.Context, p submit.Planned, to store.Store) (submit.Planned, error) {
	named := p.Spec.Pathways != nil && p.Spec.Pathways.Version != ""
	if named {
		var err error
		if p, err = o.findRuntime(ctx, p); err != nil {
			return p, err
		}
	}
	provided, err := o.provide(ctx, p, to)
	if err != nil {
		return p, err
	}
	if named {
		return withRuntime(provided)
	}
	return o.findRuntime(ctx, provided)
}

// provide makes sure that a job's packages are there, and shows what is done for it.
func (o *options) provide(ctx context.Context, p submit.Planned, to store.Store) (submit.Planned, error) {
	var bar *ui.Progress
	show := func(text string) {
		if bar == nil {
			bar = o.ui.ProgressText("packages", text)
		}
		bar.Show(text)
	}
	log := o.ui.Lines(o.streams.ErrOut, "build")
	maker := o.provider(ctx, p)
	maker.Store, maker.DryRun, maker.CancelBuild = to, !o.mode.submits(), o.wait.cancel
	maker.Show = provide.Show{
		Step: show,
		Making: func(m image.Progress) {
			show(fmt.Sprintf("%d of %s, %s sent", m.Done, human.Count(m.Wheels, "package"), human.Bytes(m.Sent)))
		},
		Log: log,
	}
	provided, err := maker.Provide(ctx, p.Environment, p.Spec.ID)
	_ = log.Close()
	if bar != nil {
		bar.Done()
	}
	if err != nil || ctx.Err() != nil {
		return p, o.providerError(ctx, err)
	}
	if why := provided.Plan.Why; why != "" {
		o.ui.Note("the pod installs the packages: " + why)
	}
	switch {
	case provided.Phase == "":
	case o.mode.submits():
		o.ui.Phase(provided.Phase, provided.Detail)
	default:
		o.ui.Note(provided.Phase + ": " + provided.Detail)
	}
	return p.WithEnvironment(provided), nil
}

// foresee returns a plan that is only printed with the packages that a run would give it, as far as they are known.
func (o *options) foresee(ctx context.Context, p submit.Planned) (submit.Planned, error) {
	if o.mode != modeDryRun && o.mode != modeWriteOverlay {
		return p, nil
	}
	foreseen, known, err := o.provider(ctx, p).Predict(ctx, p.Environment)
	if err != nil {
		return p, err
	}
	if !known {
		o.ui.Warn("a run adds --environment to the runner's arguments: which packages that names is only known once they are resolved")
	}
	o.warn(foreseen.Warnings)
	return withRuntime(p.WithEnvironment(foreseen))
}

// withRuntime returns a plan with the Pathways runtime that fits the job's packages.
func withRuntime(p submit.Planned) (submit.Planned, error) {
	p, err := p.WithRuntime()
	if err != nil {
		return p, cli.Usage(err)
	}
	return p, nil
}

// findRuntime returns a plan with the Pathways runtime that fits the job's packages. Before a submit it looks for its images.
func (o *options) findRuntime(ctx context.Context, p submit.Planned) (submit.Planned, error) {
	p, err := withRuntime(p)
	if err != nil || !o.mode.submits() {
		return p, err
	}
	p, err = p.FindRuntime(ctx, o.provider(ctx, p).Images)
	return p, submitError(err)
}

// providerError gives mistakes in what is to be installed exit code 2: nothing was created. After an
// interrupt it says what is still running.
func (o *options) providerError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		o.ui.Note("interrupted; no job was started")
		if cloud, ok := errors.AsType[*provide.CloudError](err); ok && cloud.Running.Name != "" {
			o.ui.Note(cloud.Going())
		}
		return cli.Exit(cli.ExitInterrupted)
	}
	if errors.As(err, new(*image.LimitError)) {
		return cli.Usagef("%w: allow more, or use --image prebuilt", err)
	}
	if packaging.Mistaken(err) || errors.Is(err, store.ErrUnusable) { // as of an upload: nothing has started
		return cli.Usage(err)
	}
	return err
}

// hasPackageOf reports whether what is packaged has modules in a directory of the name that a module of a package begins with.
func hasPackageOf(module string, files *pack.Plan) bool {
	top, _, isBelow := strings.Cut(module, ".")
	return isBelow && files != nil && slices.ContainsFunc(files.Index.Files, func(f api.IndexFile) bool {
		return strings.HasSuffix(f.Path, ".py") && strings.Contains("/"+f.Path, "/"+top+"/")
	})
}

// uninstalled returns what would have a module that a job did not find, "" if that is not known.
func uninstalled(p submit.Planned, module string, h api.Handle) string {
	l, required := p.Deps.WithModule(module)
	isLocal, custom := h.Backend == api.BackendLocal, p.Environment.Mode == decide.Custom
	// jaxModules are the modules that a runtime brings.
	jaxModules := map[string]bool{"jax": true, "jaxlib": true, "keras": true, "libtpu": true}
	switch {
	case required && isLocal:
		return fmt.Sprintf("%s is in %s, but local jobs don't install packages: install it for python3 on this machine", l.Name(), l.File)
	case required && custom:
		return fmt.Sprintf("%s is in %s, but nothing is installed in an image of your own: use --image bundled or prebuilt, or an image that has it", l.Name(), l.File)
	case required && p.Environment.Settings.NoDeps:
		return fmt.Sprintf("%s is in %s, but --no-deps leaves it out", l.Name(), l.File)
	case hasPackageOf(module, p.Files):
		return "your code has no module " + module
	case isLocal:
		return fmt.Sprintf("your code has no module %s, and local jobs don't install packages: install it for python3 on this machine", module)
	case custom:
		return fmt.Sprintf("neither your code nor the image %s has the module %s, and nothing is installed in an image of your own: use an image that has it, or require it and use --image bundled", h.ImageURI, module)
	case jaxModules[module] && !p.Environment.AddsRuntime():
		return fmt.Sprintf("%s is not installed: --runtime jax adds it", module)
	case required: // for another platform, or under another name
		return ""
	case p.Deps.Source == "":
		return fmt.Sprintf("your code has no module %s, and no requirements.txt or pyproject.toml lists packages: list one that has it", module)
	default:
		return fmt.Sprintf("neither your code nor a package of %s has the module %s: add it to one of them", p.Deps.Source, module)
	}
}
