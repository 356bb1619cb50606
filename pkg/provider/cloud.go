package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/environment"
	"github.com/kubectl-kinetic/kinetic/pkg/lock"
)

// buildable reports whether Cloud Build can be asked: it pushes to Artifact Registry only.
func (p *Provider) buildable(plan environment.Plan) bool {
	host, _, _ := strings.Cut(plan.Repository, "/")
	return p.Cloud != nil && strings.HasSuffix(host, ".pkg.dev")
}

// build has Cloud Build make the image. packages are those that were resolved here, if any; because says why this machine does not, nil if that was
// asked for.
func (p *Provider) build(ctx context.Context, plan environment.Plan, packages []lock.Package, because error) (done environment.Provided, err error) {
	done = environment.Provided{Plan: plan, Image: plan.Image}
	if !p.buildable(plan) {
		return done, fmt.Errorf("--builder cloudbuild: Cloud Build is for images in Artifact Registry of the cluster's project, not for %s", plan.Repository)
	}
	facts, err := p.facts(ctx, plan)
	if err != nil {
		return done, err
	}
	client, err := p.Cloud(ctx)
	if err != nil {
		return done, errors.Join(because, err)
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	d, err := wishDocument(plan, packages)
	if err != nil {
		return done, err
	}
	source, err := cloudbuild.Image{
		Base: plan.Base.Ref, Layout: environment.Layout(facts.Python), Interpreter: facts.Interpreter, System: plan.System, Installer: cloudbuild.UV,
		Requirements: d.Requirements, Constraints: d.Constraints, Options: d.Options, Hashed: plan.IsLock() && plan.Wanted.Kind == deps.Requirements,
		Compiled: because != nil,
	}.Source(ctx)
	if err != nil {
		return done, errors.Join(because, err)
	}
	p.Show.Step("building the image in Cloud Build")
	build, err := client.Start(ctx, cloudbuild.Request{Key: plan.Tag, Image: plan.Image, Source: source})
	if err != nil {
		return done, errors.Join(because, err)
	}
	digest, err := client.Follow(ctx, build, p.Show.Log)
	if err != nil {
		return done, fmt.Errorf("%w; its page: %s", err, build.URL)
	}
	done.Digests = []string{digest}
	done.Phase, done.Detail = "image", "built in Cloud Build"
	return done, nil
}
