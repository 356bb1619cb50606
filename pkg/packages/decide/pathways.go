package decide

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// pathwaysUtils connects JAX to the Pathways runtime.
const pathwaysUtils = "pathwaysutils"

// addPathways adds what a call of the Pathways runtime imports. A complete list of packages must have it.
func (p *Plan) addPathways(in Input) error {
	if !in.Pathways || p.Settings.Runtime == string(RuntimeNone) {
		return nil
	}
	if has, err := p.has(pathwaysUtils, "--backend pathways"); has || err != nil {
		return err
	}
	if len(p.Added) == 0 && !p.Base.Runtime && !slices.ContainsFunc(p.Wanted.Requirements, func(l deps.Line) bool { return requirement.Normalize(l.Name()) == "jax" }) {
		p.Added = []string{"jax", "keras"} // as any job on a TPU gets them
	}
	p.Added = append(slices.Clip(p.Added), pathwaysUtils)
	return nil
}

// has reports whether the job has a package that a flag needs, or a complete list of packages that is not known yet.
// It is an error if such a list lacks it.
func (p *Plan) has(name, flag string) (bool, error) {
	is := func(other string) bool { return requirement.Normalize(other) == name }
	switch {
	case slices.ContainsFunc(p.locked, is) || slices.ContainsFunc(p.Wanted.Requirements, func(l deps.Line) bool { return is(l.Name()) }):
		return true, nil
	case p.IsLock() && p.Wanted.Kind.IsLock() && p.locked == nil:
		return true, nil
	case p.IsLock():
		return false, fmt.Errorf("%s has no %s, which %s needs: add it to the project, and lock it again", cmp.Or(p.Wanted.Source, "the lock"), name, flag)
	}
	return false, nil
}

// debugger is what --debug imports.
const debugger = "debugpy"

// addDebugger adds the debugger. A complete list of packages must have it; a base image of the user's may.
func (p *Plan) addDebugger(in Input) error {
	if !in.Debug || in.NoDeps || in.BaseImage != "" || in.BaseImageRepo != "" {
		return nil
	}
	has, err := p.has(debugger, "--debug")
	if !has && err == nil {
		p.Added = append(slices.Clip(p.Added), debugger)
	}
	return err
}
