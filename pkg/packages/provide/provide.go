// Package provide provides the environment that a plan names: it makes the image, or puts the
// list of what the pod installs into the store.
package provide

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Provider provides environments.
type Provider struct {
	Images   *image.Client
	Resolver resolve.Resolver
	// Store is where the pod gets its packages from, and StoreURL its URL. Estimate and Predict need
	// the URL alone.
	Store    store.Store
	StoreURL string
	// Python is the interpreter that compiles modules, "" for none.
	Python string
	// Cloud opens Cloud Build; nil where the job has no project.
	Cloud func(context.Context) (*cloudbuild.Client, error)
	// CancelBuild means to cancel a build that an interrupt leaves running, unless someone else has
	// started it.
	CancelBuild bool
	Now         func() time.Time
	Show        Show
	// DryRun means to find out what would be done, and to do nothing.
	DryRun bool
}

// Show tells the user what happens. No field is nil.
type Show struct {
	// Step begins a step, such as "resolving 12 requirements with uv".
	Step func(what string)
	// Making tells how far the image is.
	Making func(image.Progress)
	// Log gets the log of a build.
	Log io.Writer
}

// Provide makes sure that the environment of a plan can be used.
//
// id is the job's, for the next one, which gets the packages that its pod chooses.
func (p *Provider) Provide(ctx context.Context, plan decide.Plan, id string) (decide.Provided, error) {
	if plan.Mode == decide.Custom {
		return p.custom(ctx, plan)
	}
	done := decide.Provided{Plan: plan, Image: plan.Image}
	var packages []deps.Package // that were chosen here
	_, err := p.steps(plan).walk(func(at step, because error) (ok bool, err error) {
		if at == there {
			done, ok, err = p.there(ctx, plan)
			return ok, err
		}
		if err := p.Check(plan); err != nil {
			return false, err
		}
		switch {
		case at == inPod:
			done, err = p.prebuilt(ctx, p.instead(plan, because), id)
		case p.DryRun:
			done, err = p.look(ctx, plan, at)
		case at == here:
			done, packages, err = p.make(ctx, plan)
		default:
			done, err = p.build(ctx, plan, packages, because)
		}
		if err == nil && at != inPod && !p.DryRun {
			p.made(plan, done)
		}
		return err == nil, err
	})
	return done, err
}

// Check returns a *resolve.MistakeError if what is wanted can't be provided. An image that is there needs nothing. Check
// contacts nothing.
func (p *Provider) Check(plan decide.Plan) error {
	if len(p.steps(plan)) == 0 {
		return nil
	}
	return p.Resolver.Check(p.wish(plan, p.known(plan)))
}

// made remembers that a registry has taken an image.
func (p *Provider) made(plan decide.Plan, done decide.Provided) {
	p.Images.Memory.Delete(refusedKey(plan.Repository))
	p.Images.Memory.Delete(lostKey(plan.Image))
	if plan.Settings.RefreshDeps {
		p.refreshed(done.Digests)
	}
}

// instead returns the plan by which the pod installs the packages, and remembers a registry that refuses images.
func (p *Provider) instead(plan decide.Plan, because error) decide.Plan {
	if because == nil {
		return plan
	}
	why, _ := obstacle(because)
	if unwritable(because) {
		p.Images.Memory.Save(refusedKey(plan.Repository), refusal{why, p.Now()})
	}
	return plan.AsPrebuilt(why)
}

// checkTime limits how long a look at the user's own image may take.
const checkTime = 5 * time.Second

func (p *Provider) custom(ctx context.Context, plan decide.Plan) (decide.Provided, error) {
	done := decide.Provided{Plan: plan, Image: plan.Image}
	if plan.Settings.NoImageCheck {
		return done, nil
	}
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var err error
	done.Digests, err = p.Images.Check(limited, plan.Image, plan.Arch, p.Now())
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = nil // only the nodes can tell
	}
	if err != nil {
		err = fmt.Errorf("%w (--no-image-check leaves this to the nodes)", err)
	}
	return done, err
}

// unwritable reports whether a registry refused an image, and will again. A user who is not logged in may log in, and a
// repository that does not exist may be created, at any time.
func unwritable(err error) bool {
	var registry *image.RegistryError
	return errors.As(err, &registry) && registry.Denied() && !registry.Reading() && !registry.Looking() && registry.Status() != http.StatusNotFound && registry.Status() != http.StatusUnauthorized
}
