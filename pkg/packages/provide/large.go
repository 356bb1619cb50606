package provide

import (
	"context"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// baseThere returns the base as Cloud Build is asked for it: with its digest, so that nobody who can move its
// tag decides what a build runs. Cloud Build may reach a registry that this machine can't: then it has none.
func (p *Provider) baseThere(ctx context.Context, plan decide.Plan) string {
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if plan.Base.Known {
		if fixed, err := p.fixedBase(limited, plan); err == nil {
			return fixed
		}
	} else if digest, err := p.Images.Digest(limited, plan.Base.Ref, plan.Arch); err == nil && digest != "" && !strings.Contains(plan.Base.Ref, "@") {
		return plan.Base.Ref + "@" + digest
	}
	return plan.Base.Ref
}

// maxLarge is the most packages with a layer of their own in an image that Cloud Build makes. Most bases
// have fewer than ten layers, and an image may have 127.
const maxLarge = 64

// large takes the lines of large packages out of a document, and returns these packages, the largest
// first. A changed small package changes none of their layers.
func (p *Provider) large(ctx context.Context, plan decide.Plan, facts image.Facts, packages []deps.Package, d *document) ([]cloudbuild.Package, error) {
	wheels, whole := decide.Wheels(packages)
	if len(wheels) == 0 || !whole || len(wheels) != len(d.Requirements) {
		return nil, nil
	}
	client, err := p.Resolver.Client(p.wish(plan, facts))
	if err != nil {
		return nil, err
	}
	sizes, err := p.Images.Sizes(ctx, client, wheels)
	if err != nil {
		return nil, err
	}
	var large []cloudbuild.Package
	taken := map[int]bool{}
	for _, group := range wheel.Group(sizes, len(sizes)) {
		i := group[0]
		if sizes[i] <= wheel.Large || len(large) == maxLarge {
			break
		}
		large, taken[i] = append(large, cloudbuild.Package{Project: packages[i].Name, Requirement: d.Requirements[i]}), true
	}
	var rest []string
	for i, line := range d.Requirements {
		if !taken[i] {
			rest = append(rest, line)
		}
	}
	d.Requirements = rest
	return large, nil
}
