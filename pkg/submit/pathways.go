package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// imageTag matches the tag of an image.
const imageTag = `^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`

// validatePathways rejects flags that need the Pathways runtime, and values that no runtime has.
func validatePathways(r api.Request) error {
	w := r.Pathways
	if r.Backend != api.BackendPathways {
		for _, f := range []struct {
			name string
			set  bool
		}{{"--xla-flag", w.XLAFlags != nil}, {"--pathways-version", w.Version != ""}, {"--no-network-policy", w.NoNetworkPolicy}} {
			if f.set {
				return fmt.Errorf("%s requires --backend pathways", f.name)
			}
		}
		return nil
	}
	for _, flag := range w.XLAFlags {
		if xla, _, _ := strings.Cut(flag, "="); !strings.HasPrefix(xla, "--xla_") || len(xla) == len("--xla_") {
			return fmt.Errorf("--xla-flag %q: expected --xla_NAME=VALUE, as in --xla-flag=--xla_tpu_enable_latency_hiding_scheduler=true", flag)
		}
	}
	if !image.IsPathwaysRepository(w.Images) {
		return fmt.Errorf("--pathways-images %q (or of KINETIC_PATHWAYS_IMAGES, or the profile): expected a repository, as in %s", w.Images, image.PathwaysRepository)
	}
	for _, e := range r.Env {
		if e.Name == "JAX_PLATFORMS" && !slices.Contains(strings.Split(e.Value, ","), "proxy") {
			return fmt.Errorf("--env JAX_PLATFORMS=%s: with --backend pathways JAX reaches the chips through the platform proxy: omit the variable, or use proxy,cpu", e.Value)
		}
	}
	if w.Version != "" && !lazyregexp.Of(imageTag).MatchString(w.Version) {
		return fmt.Errorf("--pathways-version %q: expected the tag of an image, such as jax-0.9.2", w.Version)
	}
	if r.Processes != "" {
		return fmt.Errorf("--processes-per-host %s cannot be combined with --backend pathways, where one process sees all chips: omit it, or use --backend lws", r.Processes)
	}
	if l := launcher(r); l != "" {
		return fmt.Errorf("--command %s starts several processes, but with --backend pathways one process sees all chips: start python directly, or use --backend lws", l)
	}
	return nil
}

// launcher returns the launcher that a --command starts, by its name or with python -m; "" if none is known.
func launcher(r api.Request) string {
	if !r.Command || len(r.Args) == 0 {
		return ""
	}
	started := []string{path.Base(r.Args[0])}
	if m := slices.Index(r.Args, "-m"); m >= 0 && m+1 < len(r.Args) {
		started = append(started, r.Args[m+1])
	}
	// launchers start several processes, and the runtime has one client.
	launchers := []string{
		"torchrun", "accelerate", "deepspeed", "horovodrun", "mpirun", "mpiexec",
		"torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch", // with python -m
	}
	if i := slices.IndexFunc(started, func(word string) bool { return slices.Contains(launchers, word) }); i >= 0 {
		return started[i]
	}
	return ""
}

// checkPathways rejects hardware that the Pathways runtime does not support.
func checkPathways(r api.Request) error {
	if r.Backend != api.BackendPathways {
		return nil
	}
	if err := accelerator.CheckPathways(r.Accelerator); err != nil {
		return err
	}
	if r.Slices > 1 {
		return fmt.Errorf("--slices %d cannot be combined with --backend pathways, which runs on one slice: choose a larger one with --accelerator, or use --backend lws", r.Slices)
	}
	return nil
}

// newPathways returns the runtime of a job, as far as its flags say.
func newPathways(r api.Request, acc api.Accelerator) *api.Pathways {
	if r.Backend != api.BackendPathways {
		return nil
	}
	w := r.Pathways
	p := &api.Pathways{TPUHosts: acc.Hosts, Instance: accelerator.PathwaysInstance(acc), XLAFlags: w.XLAFlags, OpenNetwork: w.NoNetworkPolicy}
	if w.Version != "" {
		setImages(p, w.Images, image.PathwaysVersion(w.Version))
	}
	return p
}

func setImages(p *api.Pathways, repository, version string) {
	p.Version = version
	p.Server, p.Proxy = image.PathwaysImages(repository, version)
}

// pathwaysDoubts warns about variables that have no effect, since XLA runs in another container.
func pathwaysDoubts(s api.Spec) (warnings []string) {
	if s.Pathways == nil {
		return nil
	}
	for _, e := range s.Env {
		switch e.Name {
		case "JAX_BACKEND_TARGET", "ENABLE_PATHWAYS_PERSISTENCE", "IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS":
			warnings = append(warnings, fmt.Sprintf("--env %s replaces the value with which JAX reaches the Pathways runtime", e.Name))
		case "XLA_FLAGS", "LIBTPU_INIT_ARGS":
			warnings = append(warnings, fmt.Sprintf("--env %s has no effect with --backend pathways, whose compiler runs in another container: pass each flag with --xla-flag", e.Name))
		}
	}
	return warnings
}

// WithRuntime returns the plan of a job whose Pathways runtime fits the packages that the job gets. Its errors are mistakes
// in the input.
func (p Planned) WithRuntime() (Planned, error) {
	if p.Spec.Pathways == nil {
		return p, nil
	}
	if python := p.Environment.Base.Python; python != "" && image.OlderVersion(python, api.Contract.Pathways.Python) {
		return p, fmt.Errorf("--backend pathways needs Python %s or newer, and the job would have Python %s: choose another with --python", api.Contract.Pathways.Python, python)
	}
	jax := p.jaxVersion()
	if jax != "" && image.OlderVersion(jax, api.Contract.Pathways.JAX) {
		return p, fmt.Errorf("--backend pathways needs jax %s or newer, and the job would have jax %s: change it in %s", api.Contract.Pathways.JAX, jax, cmp.Or(p.Deps.Source, "the project's requirements"))
	}
	if newer := api.Contract.Pathways.NewerPython; jax != "" && p.Environment.Base.Python != "" && !image.OlderVersion(jax, api.Contract.Pathways.NewerJAX) && image.OlderVersion(p.Environment.Base.Python, newer) {
		return p, fmt.Errorf("--backend pathways needs Python %s or newer with jax %s, and the job would have Python %s: choose another with --python", newer, jax, p.Environment.Base.Python)
	}
	if p.Spec.Pathways.Version != "" {
		return p, nil
	}
	if p.Environment.Mode == decide.Custom {
		return p, fmt.Errorf("--backend pathways needs the version of the JAX in %s: name the runtime that fits it, as in --pathways-version jax-0.9.2", p.Spec.Image)
	}
	if jax == "" {
		return p, errors.New("--backend pathways needs the version of the job's JAX, which is not known before its packages are resolved: pin it, as in jax==0.9.2, or name the runtime's version with --pathways-version jax-0.9.2")
	}
	runtime := *p.Spec.Pathways
	setImages(&runtime, p.request.Pathways.Images, image.PathwaysFor(jax))
	p.Spec.Pathways = &runtime
	return p, nil
}

// jaxVersion returns the version of JAX that the job gets, "" if it is not known.
func (p Planned) jaxVersion() string {
	for _, w := range slices.Concat(p.provided.Wheels, p.Environment.Locked) {
		if project, rest, _ := strings.Cut(w.File, "-"); requirement.Normalize(project) == "jax" {
			version, _, _ := strings.Cut(rest, "-")
			return version
		}
	}
	if p.Environment.Mode == decide.Custom || p.Environment.Base.Runtime {
		return "" // the image's own JAX counts
	}
	texts := slices.Clone(p.Environment.Added)
	for _, l := range slices.Concat(p.Environment.Wanted.Requirements, p.Environment.Wanted.Dropped) {
		if !strings.Contains(l.Text, ";") { // without a condition
			texts = append(texts, l.Text)
		}
	}
	for _, text := range texts {
		if r, err := requirement.Parse(text); err == nil && requirement.Normalize(r.Name) == "jax" {
			if v, pinned := r.Specifiers.Pinned(); pinned {
				return v
			}
		}
	}
	return ""
}

// FindRuntime looks for the images of the job's Pathways runtime, and names them by their digests, so that all attempts run
// the same ones. If the registry doesn't answer, that is a warning: the nodes may reach it.
func (p Planned) FindRuntime(ctx context.Context, registry *image.Client) (Planned, error) {
	if p.Spec.Pathways == nil {
		return p, nil
	}
	runtime := *p.Spec.Pathways
	server, proxy, err := image.FindPathways(ctx, registry, p.request.Pathways.Images, runtime.Version)
	switch {
	case ctx.Err() != nil:
		return p, ctx.Err()
	case errors.As(err, new(*image.MissingPathwaysError)):
		return p, &InputError{err}
	case err != nil:
		p.Warnings = append(slices.Clip(p.Warnings), fmt.Sprintf("could not check the image of the Pathways runtime: %v", err))
		return p, nil
	}
	runtime.Server, runtime.Proxy = server, proxy
	p.Spec.Pathways = &runtime
	return p, nil
}
