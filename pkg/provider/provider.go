// Package provider provides the environment that a plan names: it makes the image, or puts the
// list of what the pod installs into the store.
package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/environment"
	"github.com/kubectl-kinetic/kinetic/pkg/image"
	"github.com/kubectl-kinetic/kinetic/pkg/resolver"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Provider provides environments.
type Provider struct {
	Images   *image.Client
	Resolver resolver.Resolver
	// Store is where the pod gets its packages from, and StoreURL its URL. Outlook and Foresee need
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
	// Look means to find out what would be done, and to do nothing.
	Look bool
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
func (p *Provider) Provide(ctx context.Context, plan environment.Plan, id string) (environment.Provided, error) {
	steps := p.steps(plan)
	switch {
	case plan.Mode == environment.Custom:
		return p.custom(ctx, plan)
	case len(steps) == 0:
		return environment.Provided{Plan: plan, Image: plan.Image}, nil
	case steps.first() == inPod:
		return p.prebuilt(ctx, plan, id)
	}
	made, err := p.bundled(ctx, plan, steps)
	if err == nil && made.Phase != "" && !p.Look {
		forget(p.Images.Memory, plan.Repository, p.Now())
		p.Images.Memory.Delete(lostKey(plan.Image))
		if plan.Settings.RefreshDeps {
			p.refreshed(made.Digests)
		}
	}
	why := notHere(err)
	if !slices.Contains(steps, inPod) || why == "" {
		return made, err
	}
	if unwritable(err) {
		remember(p.Images.Memory, plan.Repository, why, p.Now())
	}
	return p.prebuilt(ctx, plan.AsPrebuilt(why), id)
}

// checkTime limits how long a look at the user's own image may take.
const checkTime = 5 * time.Second

// custom checks that an image exists.
func (p *Provider) custom(ctx context.Context, plan environment.Plan) (environment.Provided, error) {
	done := environment.Provided{Plan: plan, Image: plan.Image}
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

// notHere returns why an image can't be made here or in Cloud Build, "" if the error is another
// one, which another way would have, too.
func notHere(err error) string {
	var registry *image.RegistryError
	var limit *image.LimitError
	var resolve *resolver.NotHereError
	var build *resolver.NeedsBuildError
	var cloud *CloudError
	switch {
	case errors.As(err, &cloud):
		if cloud.Lasting() {
			return firstLine(err)
		}
	case errors.As(err, &registry) && (registry.Denied() || registry.Busy() || registry.Status() == 0):
		answer := "no answer"
		if code := registry.Status(); code != 0 {
			answer = fmt.Sprintf("%d %s", code, http.StatusText(code))
		}
		if registry.Reading() {
			return fmt.Sprintf("the base image can't be read from %s (%s); --image bundled tries again", registry.Repository, answer)
		}
		if registry.Status() == http.StatusNotFound {
			return fmt.Sprintf("images can't be sent to %s (%s): create the repository, or name another with --image-repo", registry.Repository, answer)
		}
		return fmt.Sprintf("images can't be sent to %s (%s); --image bundled tries again", registry.Repository, answer)
	case errors.As(err, &limit), errors.As(err, &resolve), errors.As(err, &build):
		return firstLine(err)
	}
	return ""
}

func firstLine(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// unwritable reports whether a registry refused an image, and will again. A repository that does not
// exist may be created at any time.
func unwritable(err error) bool {
	var registry *image.RegistryError
	return errors.As(err, &registry) && registry.Denied() && !registry.Reading() && registry.Status() != http.StatusNotFound
}
