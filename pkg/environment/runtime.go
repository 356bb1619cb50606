package environment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/requirement"
)

// Runtime says whether a job gets JAX and Keras beside what its project wants.
type Runtime string

// The runtimes.
const (
	RuntimeAuto Runtime = "auto" // with accelerators, unless a GPU job uses something else
	RuntimeJAX  Runtime = "jax"
	RuntimeNone Runtime = "none"
)

// Runtimes returns the valid values, the default first.
func Runtimes() []string {
	return []string{string(RuntimeAuto), string(RuntimeJAX), string(RuntimeNone)}
}

// libtpuReleases has the wheels of libtpu that are not on PyPI.
const libtpuReleases = "--find-links https://storage.googleapis.com/jax-releases/libtpu_releases.html"

// jaxFor returns the requirement of JAX for an accelerator.
func jaxFor(kind api.AcceleratorKind) string {
	switch kind {
	case api.TPU:
		return "jax[tpu]>=0.4.6"
	case api.GPU:
		return "jax[cuda12]"
	default:
		return "jax"
	}
}

// addRuntime adds the requirements of the runtime, and says what the filter leaves the job
// without.
func (p *Plan) addRuntime(r Runtime, kind api.AcceleratorKind) {
	switch {
	case p.IsLock() && len(p.Wanted.Dropped) == 0: // complete as it is
		p.warnWithoutLibtpu(kind)
		return
	case r == RuntimeNone: // exactly what the project lists
		p.Wanted.Requirements, p.Wanted.Dropped = slices.Concat(p.Wanted.Requirements, p.Wanted.Dropped), nil
		return
	case r == RuntimeAuto && p.Base.Runtime:
		for _, l := range p.Wanted.Dropped {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s (%s) is left out: the base image %s has its own; # kn:keep at the end of the line keeps it", l.Name(), l.Place(), p.Base.Ref))
		}
		return
	case r == RuntimeJAX, kind == api.TPU, kind == api.GPU && !p.requires("torch", "tensorflow"):
		p.Added = []string{jaxFor(kind), "keras"}
		if kind == api.TPU {
			p.AddedOptions = []string{libtpuReleases}
		}
		for _, l := range p.Wanted.Dropped {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s (%s) is left out: the job gets %s, which fits %s; # kn:keep at the end of the line keeps it", l.Name(), l.Place(), p.Added[0], strings.ToUpper(string(kind))))
		}
		return
	}
	if dropped := p.Wanted.Dropped; len(dropped) > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s (%s) is left out, and nothing replaces it on %s: add --runtime jax, or end the line with # kn:keep", dropped[0].Name(), dropped[0].Place(), strings.ToUpper(string(kind))))
	}
}

// IsLock reports whether the project's file names every package of the job with its hash.
func (p Plan) IsLock() bool {
	if p.Wanted.Kind.IsLock() {
		return true
	}
	all := p.Wanted.Requirements
	return len(all) > 0 && len(p.Added) == 0 && !slices.ContainsFunc(all, func(l deps.Line) bool { return len(l.Hashes) == 0 })
}

// requires reports whether the project wants one of some packages.
func (p *Plan) requires(names ...string) bool {
	return slices.ContainsFunc(p.Wanted.Requirements, func(l deps.Line) bool {
		return slices.Contains(names, requirement.Normalize(l.Name()))
	})
}

// warnWithoutLibtpu warns if a lock lacks what JAX needs on a TPU.
func (p *Plan) warnWithoutLibtpu(kind api.AcceleratorKind) {
	has := p.requires("libtpu", "libtpu-nightly") || strings.Contains(string(p.Wanted.Lock), `"libtpu`)
	if kind == api.TPU && !has {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s is complete, so nothing is added to it, but it has no libtpu: lock jax[tpu] for TPUs", p.Wanted.Source))
	}
}
