package provide

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// Index is a place where packages are looked for.
type Index = resolve.Index

// Estimate says what providing an environment would take.
type Estimate struct {
	// Resolved says what chooses the versions: "uv.lock", "uv", "Cloud Build", "the pod", "an earlier run",
	// "nothing".
	Resolved string
	// Why says why so.
	Why string
	// Wheels are the packages, and Bytes is what they have together, as far as that is known; 0 if
	// it is not.
	Wheels []wheel.Source
	Bytes  int64
	// Indexes are where packages are looked for, if they are not known yet.
	Indexes resolve.Indexes
	// How says how the packages get to the job.
	How string
}

// Estimate says what Provide would do. It contacts nothing, and runs nothing but interpreters, to ask them what they are.
func (p *Provider) Estimate(ctx context.Context, plan decide.Plan) Estimate {
	if len(p.steps(plan)) == 0 {
		return Estimate{}
	}
	of := p.prospect(ctx, plan, p.known(plan))
	way := of.way
	o := Estimate{Resolved: string(way), Why: of.why}
	switch way {
	case resolve.Nothing: // until the files that URLs name are fetched
		o.Resolved = "a run"
	case resolve.Pod:
		next := of.taken(ctx, &resolve.NotHereError{})
		if next == inCloud {
			way = resolve.Elsewhere
		}
		o.Resolved = map[step]string{inCloud: "Cloud Build", inPod: "the pod", fails: "nothing"}[next]
	case resolve.Hashes:
		o.Resolved = plan.Wanted.Source
	}
	o.Wheels = plan.Locked
	if found, ok := p.pinned(plan); ok {
		if !plan.IsLock() {
			o.Resolved, o.Why = "an earlier run", "they stay until --refresh-deps"
		}
		if len(o.Wheels) == 0 {
			o.Wheels = found.Wheels
		}
	}
	if len(o.Wheels) == 0 && way != resolve.Nothing {
		o.Indexes, _ = p.Resolver.Indexes(p.wish(plan, of.facts), way) // a run says what is wrong
	}
	for _, w := range o.Wheels {
		o.Bytes += w.Size
	}
	o.How = of.how(ctx)
	return o
}

// prospect is what this machine knows of a plan without asking anyone.
type prospect struct {
	*Provider
	plan  decide.Plan
	facts image.Facts // of the base
	way   resolve.Method
	why   string // that way
	// packages are what a lock or an earlier run has chosen; nil if there are none, or if it is not
	// known what the base has.
	packages []deps.Package
}

func (p *Provider) prospect(ctx context.Context, plan decide.Plan, facts image.Facts) prospect {
	way, why := p.Resolver.Method(ctx, p.wish(plan, facts))
	of := prospect{p, plan, facts, way, why, nil}
	if facts.Python == "" {
		return of
	}
	if plan.Wanted.Kind.IsLock() {
		if env, err := p.Resolver.Resolve(ctx, p.wish(plan, facts)); err == nil { // which asks nobody; a run says what is wrong
			of.packages = env.Packages
		}
	} else if found, ok := p.usable(plan, facts); ok {
		of.packages = packagesOf(found.Wheels)
	}
	return of
}

// how says how the packages get to the job.
func (of prospect) how(ctx context.Context) string {
	s, notHere := of.steps(of.plan), of.unable(ctx, here)
	taken := of.taken(ctx, notHere)
	text := string(taken)
	switch looks := slices.Contains(s, there); {
	case looks && (taken == here || taken == inCloud):
		text += ", unless it is there"
	case looks:
		text += ", unless the image is there"
	}
	var build *resolve.NeedsBuildError
	switch {
	case taken == here:
		text += of.ifTooLarge(ctx)
	case errors.As(notHere, &build) && slices.Contains(s, here):
		text += ": some have no wheel"
	}
	return text
}

// taken returns the step that provides the packages. notHere is why this machine does not make the image, nil if it
// does.
func (of prospect) taken(ctx context.Context, notHere error) step {
	found, _ := of.steps(of.plan).walk(func(at step, _ error) (bool, error) {
		if at == there {
			return false, nil
		}
		err := notHere
		if at != here {
			err = of.unable(ctx, at)
		}
		return err == nil, err
	})
	return found
}

// unable returns why a step can't provide the packages, nil if it may.
func (of prospect) unable(ctx context.Context, at step) error {
	switch {
	case at == here && len(of.packages) > 0:
		return resolve.Env{Packages: of.packages}.NeedsBuild()
	case at == here && of.way == resolve.Pod:
		return &resolve.NotHereError{Target: of.facts.Target(), Why: of.why}
	case at == inCloud && of.Cloud == nil:
		return errors.New(noProject)
	case at == inCloud:
		return of.fits(ctx, of.plan, of.facts, of.packages)
	}
	return nil
}

// ifTooLarge says what becomes of an image that this machine makes if it has to send too much.
func (of prospect) ifTooLarge(ctx context.Context) string {
	wheels, _ := decide.Wheels(of.packages)
	bytes, known := int64(0), len(wheels) > 0
	for _, w := range wheels {
		bytes, known = bytes+w.Size, known && w.Size > 0
	}
	most := limit(of.plan)
	if known && bytes <= most {
		return ", and sends at most " + human.Bytes(most)
	}
	return fmt.Sprintf("; if more than %s (--image-upload-limit) have to be sent, %s", human.Bytes(most), of.taken(ctx, &image.LimitError{}))
}
