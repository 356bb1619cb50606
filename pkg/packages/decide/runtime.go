package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// Runtime says whether a job gets JAX and Keras beside what its project wants.
type Runtime string

// The runtimes.
const (
	RuntimeAuto Runtime = "auto" // with accelerators, unless the project uses something else
	RuntimeJAX  Runtime = "jax"
	RuntimeNone Runtime = "none"
)

// Runtimes returns the valid values, the default first.
func Runtimes() []string {
	return []string{string(RuntimeAuto), string(RuntimeJAX), string(RuntimeNone)}
}

// libtpuReleases has the wheels of libtpu that are not on PyPI.
const libtpuReleases = "--find-links https://storage.googleapis.com/jax-releases/libtpu_releases.html"

// jaxFor returns the requirement of JAX for an accelerator, in the versions that are asked for. A version is not kept if
// it may lack what the accelerator needs: uv and pip only warn of an extra that a release does not have, and the job
// would run on the CPU.
func jaxFor(kind api.AcceleratorKind, asked requirement.Specifiers) string {
	jax, oldest := "jax", ""
	switch kind {
	case api.TPU:
		jax, oldest = "jax[tpu]", "0.4.6"
	case api.GPU:
		jax, oldest = "jax[cuda12]", "0.4.30"
	}
	if v, err := requirement.ParseVersion(oldest); err == nil && asked.EndBefore(v) {
		asked = nil
	}
	_, pinned := asked.Pinned()
	switch {
	case pinned || oldest == "":
		return jax + asked.String()
	case len(asked) > 0:
		return jax + ">=" + oldest + "," + asked.String()
	}
	return jax + ">=" + oldest
}

// jax returns the requirement of JAX for an accelerator. A line that is kept decides about the version.
func (p *Plan) jax(kind api.AcceleratorKind) string {
	jax := jaxFor(kind, p.askedJAX())
	if slices.ContainsFunc(p.Wanted.Requirements, func(l deps.Line) bool { return requirement.Normalize(l.Name()) == "jax" }) {
		jax, _, _ = strings.Cut(jax, ">=")
	}
	return jax
}

// environments returns what the markers of requirements are evaluated for: one, or if the job's Python is not known, all that it
// may be.
func (p *Plan) environments() []requirement.Environment {
	target := p.Base.Facts(p.Arch).Target()
	if target.Python != "" {
		return []requirement.Environment{deps.LockOptions{Target: target, FullPython: p.Base.full()}.Environment()}
	}
	var all []requirement.Environment
	for _, target.Python = range Pythons() {
		all = append(all, deps.LockOptions{Target: target}.Environment())
	}
	return all
}

// askedJAX returns the versions that the project's own lines allow, as far as they count for the job. There are none if
// it is not known which lines count.
func (p *Plan) askedJAX() (asked requirement.Specifiers) {
	for _, env := range p.environments() {
		switch some := p.askedJAXOf(env); {
		case len(some) == 0:
		case len(asked) > 0 && some.String() != asked.String():
			return nil // which the warning shows
		default:
			asked = some
		}
	}
	return asked
}

// askedJAXOf returns the versions that the lines allow which count in an environment. Their order does not matter, since
// images are named by them.
func (p *Plan) askedJAXOf(env requirement.Environment) requirement.Specifiers {
	var asked []string
	for _, l := range p.Wanted.Dropped {
		r, err := requirement.Parse(l.Text)
		if err != nil || requirement.Normalize(r.Name) != "jax" {
			continue
		}
		if counts, err := r.Marker.Holds(env); err == nil && counts && !slices.Contains(asked, r.Specifiers.String()) {
			asked = append(asked, r.Specifiers.String())
		}
	}
	slices.Sort(asked)
	all, err := requirement.ParseSpecifiers(strings.Join(asked, ","))
	if err != nil {
		return nil // which the warning shows
	}
	return all
}

// addRuntime adds the requirements of the runtime, and replaces what the filter has dropped by what fits the
// accelerator.
func (p *Plan) addRuntime(r Runtime, kind api.AcceleratorKind) {
	used := usesOf(p.Wanted.Named())
	used.more = p.Wanted.Unread || p.Wanted.HasUnnamed()
	switch {
	case p.IsLock() && len(p.Wanted.Dropped) == 0: // complete as it is
		return
	case r == RuntimeNone, !p.Base.Runtime && p.locksJAX(kind), r == RuntimeAuto && !p.Base.Runtime && !p.filtered(kind, used): // exactly what the project lists
		p.Wanted.Requirements, p.Wanted.Dropped = slices.Concat(p.Wanted.Requirements, p.Wanted.Dropped), nil
		return
	case r == RuntimeAuto && p.Base.Runtime:
		for _, l := range p.Wanted.Dropped {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s (%s) is left out: the base image %s has its own; # kn:keep at the end of the line keeps it", l.Name(), l.Place(), p.Base.Ref))
		}
		return
	case r == RuntimeJAX, kind != api.CPU && used.jax():
		p.Added = []string{p.jax(kind), "keras"}
	case len(p.Wanted.Dropped) > 0:
		p.Added = []string{p.jax(kind)}
	case kind != api.CPU && !used.all[usesOther] && !used.all[usesXLA]:
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s does not say whether the job needs JAX, so JAX is not installed: if it needs JAX, list jax or add --runtime jax; if not, add --runtime none", cmp.Or(p.Wanted.Source, "the project")))
	}
	if kind == api.TPU && len(p.Added) == 0 && used.lacksTPU() {
		p.Warnings = append(p.Warnings, fmt.Sprintf("nothing in %s is known to use TPUs: list torch_xla[tpu] for PyTorch, tensorflow-tpu for TensorFlow, or jax", p.Wanted.Source))
	}
	if len(p.Added) > 0 && kind == api.TPU {
		p.AddedOptions = []string{libtpuReleases}
	}
	for _, l := range p.Wanted.Dropped {
		instead := p.Added[0] + ", which fits " + strings.ToUpper(string(kind))
		if len(l.Hashes) > 0 {
			instead += ", without its hashes"
		} else if l.Text == p.Added[0] || strings.HasPrefix(p.Added[0], l.Text+">=") {
			continue
		}
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s (%s) is left out: the job gets %s; # kn:keep at the end of the line keeps it", deps.Hidden(l.Text), l.Place(), instead))
	}
}

// locksJAX reports whether all lines have hashes, and name what JAX needs on the accelerator.
func (p *Plan) locksJAX(kind api.AcceleratorKind) bool {
	all := slices.Concat(p.Wanted.Requirements, p.Wanted.Dropped)
	plugin := map[api.AcceleratorKind]string{api.GPU: "jax-cuda", api.TPU: "libtpu"}[kind]
	return plugin != "" && !slices.ContainsFunc(all, func(l deps.Line) bool { return len(l.Hashes) == 0 }) &&
		slices.ContainsFunc(all, func(l deps.Line) bool { return strings.HasPrefix(requirement.Normalize(l.Name()), plugin) })
}

// inURL finds a hash behind the # of a URL that pip takes for --hash.
const inURL = `[#&]sha(256|384|512)=`

// checkHashes returns an error about the first thing without a hash, if a file has --require-hashes. Local projects need
// none, because their code is that of the job, nor do lines that the job does not install.
func (p *Plan) checkHashes() error {
	at := p.Wanted.HashesAt
	if at == "" {
		return nil
	}
	for _, l := range slices.Concat(p.Wanted.Requirements, p.Wanted.Dropped) {
		if len(l.Hashes) > 0 || lazyregexp.Of(inURL).MatchString(l.Text) {
			continue
		}
		r, err := requirement.Parse(l.Text)
		if err != nil || slices.ContainsFunc(p.environments(), func(env requirement.Environment) bool {
			counts, err := r.Marker.Holds(env)
			return err != nil || counts && !p.limitsWithHash(r.Name, env)
		}) {
			return fmt.Errorf("%s: %q has no --hash, which --require-hashes (%s) wants of every line: lock the requirements again, such as with pip-compile --generate-hashes", l.Place(), deps.Hidden(l.Text), at)
		}
	}
	if len(p.Added) > 0 {
		name, _, _ := strings.Cut(p.Added[0], "=")
		return fmt.Errorf("%s: --require-hashes rejects %s, which the job adds without a --hash: lock %s with its dependencies, or remove --require-hashes", at, p.Added[0], strings.TrimRight(name, "><~!"))
	}
	return nil
}

// limitsWithHash reports whether a constraint that counts in an environment names the only version of a package, with its hash.
func (p *Plan) limitsWithHash(name string, env requirement.Environment) bool {
	return slices.ContainsFunc(p.Wanted.Constraints, func(l deps.Line) bool {
		r, err := requirement.Parse(l.Text)
		if err != nil || len(l.Hashes) == 0 || requirement.Normalize(r.Name) != requirement.Normalize(name) {
			return false
		}
		_, pinned := r.Specifiers.Pinned()
		counts, err := r.Marker.Holds(env)
		return err == nil && counts && (pinned || r.URL != "")
	})
}

// filtered reports whether another JAX than the one that the project lists may fit the job: PyTorch/XLA chooses
// its own, and any one for CPUs fits a CPU.
func (p *Plan) filtered(kind api.AcceleratorKind, used uses) bool {
	forCPU := !slices.ContainsFunc(p.Wanted.Dropped, func(l deps.Line) bool {
		r, err := requirement.Parse(l.Text)
		return err != nil || len(r.Extras) > 0 || strings.HasPrefix(requirement.Normalize(r.Name), "libtpu")
	})
	return !used.all[usesXLA] && (kind != api.CPU || !forCPU)
}

// IsLock reports whether the project's file names every package of the job with its hash.
func (p Plan) IsLock() bool {
	if p.Wanted.Kind.IsLock() {
		return true
	}
	all := p.Wanted.Requirements
	return len(all) > 0 && len(p.Added) == 0 && !slices.ContainsFunc(all, func(l deps.Line) bool { return len(l.Hashes) == 0 })
}

// warnWithoutPlugin warns if a lock lacks what JAX needs on the accelerator.
func (p *Plan) warnWithoutPlugin(kind api.AcceleratorKind) {
	if !p.IsLock() || p.Wanted.Kind.IsLock() && p.locked == nil {
		return
	}
	has := func(beginnings ...string) bool {
		return slices.ContainsFunc(beginnings, func(beginning string) bool {
			isOf := func(name string) bool { return strings.HasPrefix(requirement.Normalize(name), beginning) }
			return slices.ContainsFunc(p.locked, isOf) || slices.ContainsFunc(p.Wanted.Requirements, func(l deps.Line) bool { return !p.Wanted.Kind.IsLock() && isOf(l.Name()) })
		})
	}
	lacks, instead := "", ""
	switch {
	case kind == api.TPU && !has("libtpu"):
		lacks, instead = "libtpu", "jax[tpu]"
	case kind == api.GPU && has("jax") && !has("jax-cuda", "torch", "tensorflow"):
		lacks, instead = "jax-cuda12-plugin, so JAX would run on the CPU", "jax[cuda12]"
	default:
		return
	}
	p.Warnings = append(p.Warnings, fmt.Sprintf("%s is complete, so nothing is added to it, but it has no %s: lock %s for %ss", p.Wanted.Source, lacks, instead, strings.ToUpper(string(kind))))
}
