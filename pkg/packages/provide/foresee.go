package provide

import (
	"context"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
)

// Predict returns what Provide would return, as far as that is known without any network; false if
// the packages that the pod installs are not chosen yet.
func (p *Provider) Predict(ctx context.Context, plan decide.Plan) (decide.Provided, bool, error) {
	done := decide.Provided{Plan: plan, Image: plan.Image}
	if s := p.steps(plan); !slices.Equal(s, steps{inPod}) {
		of := p.prospect(ctx, plan, p.known(plan))
		if taken := of.taken(ctx, of.unable(ctx, here)); len(s) > 0 && (taken == inPod || taken == fails) {
			done.Warnings = []string{unmade(s, taken)}
		}
		return done, true, nil
	}
	look := *p
	look.DryRun = true
	found, ok := p.pinned(plan)
	r := resolved{pins: found}
	if len(plan.Locked) > 0 {
		r, ok = resolved{pins: pins{Python: plan.Base.Python, Wheels: plan.Locked}}, true
	}
	if ok && (!plan.Base.Known || r.Python == plan.Base.Python) {
		return p.foreseeList(plan, r, done)
	}
	way, why := p.Resolver.Method(ctx, p.wish(plan, p.known(plan)))
	if way != resolve.Pod {
		return done, false, nil
	}
	done, err := look.unpinned(ctx, plan, p.known(plan), "", nil, done)
	return done, err == nil, (&resolve.NotHereError{Why: why}).Explain(err)
}

// unmade warns that a run does not make the image of the manifest, and says what it does instead.
func unmade(s steps, taken step) string {
	instead := map[step]string{inPod: "the pod installs the packages", fails: "the run fails"}[taken]
	if slices.Contains(s, there) {
		instead = "if it is not there, " + instead
	}
	return "a run can't make the image that the manifest names: " + instead + "; --dry-run=server shows what the job gets"
}

// foreseeList returns the list that Provide would store. If it is too large to be sent, what it
// names depends on what the store has.
func (p *Provider) foreseeList(plan decide.Plan, r resolved, done decide.Provided) (decide.Provided, bool, error) {
	done.Wheels = slices.Clone(r.Wheels)
	var total int64
	for i := range done.Wheels {
		p.measured(&done.Wheels[i])
		if done.Wheels[i].Size == 0 {
			return done, false, nil
		}
		total += done.Wheels[i].Size
	}
	if total > limit(plan) && !r.Stored {
		return done, false, nil
	}
	text, err := listOf(r.Python, done.Wheels, nil).text()
	done.SHA256 = text.sha256
	return done, err == nil, err
}

// known returns what is known of a plan's base without a look at it.
func (p *Provider) known(plan decide.Plan) image.Facts {
	if plan.Base.Known {
		return plan.Base.Facts(plan.Arch)
	}
	return image.Facts{Arch: plan.Arch}
}
