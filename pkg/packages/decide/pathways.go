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
	has := slices.ContainsFunc(p.locked, isPathways) || slices.ContainsFunc(p.Wanted.Requirements, func(l deps.Line) bool { return isPathways(l.Name()) })
	switch {
	case has:
		return nil
	case p.IsLock() && p.Wanted.Kind.IsLock() && p.locked == nil: // what it has is not known yet
		return nil
	case p.IsLock():
		return fmt.Errorf("%s has no %s, which --backend pathways needs: add it to the project, and lock it again", cmp.Or(p.Wanted.Source, "the lock"), pathwaysUtils)
	}
	if len(p.Added) == 0 && !p.Base.Runtime && !slices.ContainsFunc(p.Wanted.Requirements, func(l deps.Line) bool { return requirement.Normalize(l.Name()) == "jax" }) {
		p.Added = []string{"jax", "keras"} // as any job on a TPU gets them
	}
	p.Added = append(slices.Clip(p.Added), pathwaysUtils)
	return nil
}

func isPathways(name string) bool { return requirement.Normalize(name) == pathwaysUtils }
