package provide

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// CloudError says that Cloud Build did not make an image.
type CloudError struct {
	// Because says why this machine does not make it, "" if Cloud Build was asked for.
	Because string
	Err     error
	// Running is the build if it is still running, or was cancelled after an interrupt.
	Running   cloudbuild.Build
	Cancelled bool
}

// Error says what is still running, and how to end it.
func (e *CloudError) Error() string {
	text := e.Err.Error()
	if e.Because != "" {
		text = e.Because + "; " + text
	}
	if e.Running.Name != "" {
		text += "; " + e.Going()
	}
	return text
}

// Going says that the build is still running, and how to end it, or that it was cancelled.
func (e *CloudError) Going() string {
	if e.Cancelled {
		return fmt.Sprintf("the build of %s was cancelled: %s", e.Running.Image, e.Running.URL)
	}
	project, location := "", ""
	if parts := strings.Split(e.Running.Name, "/"); len(parts) == 6 {
		project, location = parts[1], parts[3]
	}
	return fmt.Sprintf("the build of %s is still running, and the next run uses it: %s; cancel it with: gcloud builds cancel %s --project=%s --region=%s",
		e.Running.Image, e.Running.URL, e.Running.ID(), project, location)
}

// Unwrap returns the reason.
func (e *CloudError) Unwrap() error { return e.Err }

// Lasting reports whether Cloud Build will not make the image as things are. It is false if a build
// has failed, and if trying again may help.
func (e *CloudError) Lasting() bool {
	var unfit unfitError
	return errors.As(e.Err, &unfit) || errors.Is(e.Err, cloudbuild.ErrUnusable)
}

// unfitError says why Cloud Build is not asked for an image.
type unfitError string

func (e unfitError) Error() string { return string(e) }

// unfit returns the error about an image that Cloud Build is not asked for.
func unfit(format string, args ...any) error {
	return &CloudError{Err: unfitError(fmt.Sprintf(format, args...))}
}

// noProject is the error without a Cloud Build to ask.
const noProject = "--builder cloudbuild: no project is known: name the cluster's with --project"

// build has Cloud Build make the image. packages are those that were resolved here, if any; because
// says why this machine does not make it, nil if that was asked for.
func (p *Provider) build(ctx context.Context, plan decide.Plan, packages []deps.Package, because error) (decide.Provided, error) {
	done := decide.Provided{Plan: plan, Image: plan.Image}
	if p.Cloud == nil {
		return done, errors.New(noProject)
	}
	failed := &CloudError{}
	if because != nil {
		failed.Because = because.Error()
	}
	packages, err := p.choose(ctx, plan, packages)
	if err != nil {
		return done, err
	}
	var unsafe []string
	if len(packages) == 0 {
		if unsafe, err = uncompared(plan, "Cloud Build"); err != nil {
			return done, err
		}
	}
	request, err := p.request(ctx, plan, packages, because)
	var unfit *CloudError
	if errors.As(err, &unfit) {
		unfit.Because = failed.Because
	}
	if err != nil {
		return done, err
	}
	wheels, _ := decide.Wheels(packages)
	done, err = p.ask(ctx, plan, request, wheels, failed)
	done.Warnings = append(done.Warnings, unsafe...)
	return done, err
}

// BuildDockerfile has Cloud Build make the image of a plan from a Dockerfile that a user wrote,
// without other files. The provider must have a Cloud.
func (p *Provider) BuildDockerfile(ctx context.Context, plan decide.Plan, dockerfile []byte) (decide.Provided, error) {
	done := decide.Provided{Plan: plan, Image: plan.Image}
	if err := plan.Buildable(); err != nil {
		return done, fmt.Errorf("having Cloud Build run a Dockerfile: %w", err)
	}
	source, err := cloudbuild.Custom(dockerfile)
	if err != nil {
		return done, err
	}
	key := strings.TrimSuffix(path.Base(source.Name), ".tar.gz")[:keyDigits]
	request := cloudbuild.Request{Key: key, Image: plan.Image, Cache: plan.Repository + ":cache", Source: source}
	return p.ask(ctx, plan, request, nil, &CloudError{})
}

// ask has Cloud Build make the image of a plan. wheels are what it installs, if that was chosen here;
// failed is the error if it does not.
func (p *Provider) ask(ctx context.Context, plan decide.Plan, request cloudbuild.Request, wheels []wheel.Source, failed *CloudError) (decide.Provided, error) {
	done := decide.Provided{Plan: plan, Image: plan.Image, Builder: decide.BuilderCloudBuild}
	began := p.Now()
	joined, digest, err := p.buildRequest(ctx, plan.Arch, request, failed)
	if err == nil {
		how := "built in Cloud Build"
		if joined { // who may have chosen other versions
			how += " by someone else"
		} else if len(wheels) > 0 {
			done.Wheels = wheels
			p.Images.Memory.Save(wheelsKey(digest), wheels)
		}
		done.Digests = []string{digest}
		done.Phase, done.Detail = "image", fmt.Sprintf("%s, %s", how, p.Now().Sub(began).Round(1e9))
		return done, nil
	}
	var ended *cloudbuild.FailedError
	if errors.As(err, &ended) {
		failed.Because = "" // what counts is why the build failed
	}
	failed.Err = err
	return done, failed
}

// choose returns the packages that Cloud Build installs, if this machine can choose them. If there
// are none, Cloud Build chooses.
func (p *Provider) choose(ctx context.Context, plan decide.Plan, packages []deps.Package) ([]deps.Package, error) {
	if packages != nil {
		return packages, nil
	}
	facts, err := p.facts(ctx, plan)
	if err != nil {
		return nil, err
	}
	r, err := p.resolve(ctx, plan, facts)
	var conflict *resolve.ConflictError
	var mistake *resolve.MistakeError
	var build *resolve.NeedsBuildError
	switch {
	case err == nil, errors.As(err, &build):
		return r.packages, nil
	case plan.Wanted.Kind.IsLock(), ctx.Err() != nil, errors.As(err, &conflict), errors.As(err, &mistake):
		return nil, err
	}
	// Cloud Build may reach an index that this machine can't.
	fmt.Fprintf(p.Show.Log, "Cloud Build chooses the versions: %s\n", firstLine(err))
	return nil, nil
}

// request returns what Cloud Build is asked for.
func (p *Provider) request(ctx context.Context, plan decide.Plan, packages []deps.Package, because error) (cloudbuild.Request, error) {
	facts, err := p.facts(ctx, plan)
	if err != nil {
		return cloudbuild.Request{}, err
	}
	if err := p.wish(plan, facts).CheckPython(); err != nil {
		return cloudbuild.Request{}, err
	}
	if err := p.fits(ctx, plan, facts, packages); err != nil {
		return cloudbuild.Request{}, err
	}
	d, err := wishDocument(plan, packages)
	if err != nil {
		return cloudbuild.Request{}, err
	}
	large, err := p.large(ctx, plan, facts, packages, &d)
	if err != nil {
		return cloudbuild.Request{}, err
	}
	source, err := cloudbuild.Image{
		Base: p.baseThere(ctx, plan), Layout: plan.Layout(facts.Python), Interpreter: facts.Interpreter, Environment: facts.Environment, InBase: plan.InBase, Installer: installer(plan),
		Requirements: d.Requirements, Constraints: d.Constraints, Options: d.Options, Hashed: plan.IsLock() && !d.Complete, Complete: d.Complete,
		Compiled: compiled(packages, because), Large: large,
	}.Source(ctx)
	var secret *cloudbuild.CredentialsError
	if errors.As(err, &secret) {
		err = unfit("%q has credentials, which everyone with access to the build would see: put them into ~/.netrc, and use --image prebuilt", secret.Line)
	}
	return cloudbuild.Request{Key: plan.Key[:keyDigits], Image: plan.Image, Cache: plan.Repository + ":cache", Source: source}, err
}

// keyDigits is how many digits of a plan's key name its builds.
const keyDigits = 40

// installer returns what installs packages: on an image of the user's own its pip, which sees what
// the image has.
func installer(plan decide.Plan) cloudbuild.Installer {
	if !plan.Base.Known && !plan.InBase {
		return cloudbuild.Pip
	}
	return cloudbuild.UV
}

// compiled reports whether a package may have to be compiled.
func compiled(packages []deps.Package, because error) bool {
	var limit *image.LimitError
	if errors.As(because, &limit) {
		return false
	}
	_, whole := decide.Wheels(packages)
	return len(packages) == 0 || !whole
}

// fits returns an error if Cloud Build would lack something that the image needs.
func (p *Provider) fits(ctx context.Context, plan decide.Plan, facts image.Facts, packages []deps.Package) error {
	if err := plan.Buildable(); err != nil {
		return unfit("Cloud Build can't make the image: %v: use --image prebuilt", err)
	}
	for _, p := range packages {
		if file := fileOf(plan, p); file != "" {
			return unfit("Cloud Build can't make the image: it can't access the project's files, such as %s (package %s of %s): use --image prebuilt", file, p.Name, plan.Wanted.Source)
		}
	}
	for _, o := range plan.Wanted.Options {
		if name, value, _ := strings.Cut(o, " "); isHere(value) && len(packages) == 0 {
			return unfit("%s %s: Cloud Build can't read this machine's files: install uv or a suitable pip here, or lock the project", name, value)
		}
	}
	lines := slices.Concat(plan.Wanted.Options, plan.AddedOptions)
	for _, l := range slices.Concat(plan.Wanted.Requirements, plan.Wanted.Constraints) {
		lines = append(lines, l.Text)
	}
	for _, line := range lines {
		line = deps.WithoutUsers(line)
		if name := deps.Variable(line); name != "" {
			return unfit("%q has the variable %s, whose value everyone with access to the build would see: use --image prebuilt", deps.Hidden(line), name)
		}
	}
	needed, possible, err := p.Resolver.Hosts(ctx, p.wish(plan, facts), packages)
	switch asked := plan.Asked || plan.Settings.Builder == string(decide.BuilderCloudBuild); {
	case err != nil:
		return err
	case len(needed) > 0:
		return unfit("the packages of %s need credentials, which everyone with access to the build would see: "+
			"use --image prebuilt, where the pod gets them in a Secret, or install uv or a suitable pip here", strings.Join(needed, ", "))
	case len(possible) > 0 && !asked:
		return unfit("the packages of %s may need the credentials in ~/.netrc, which Cloud Build does not get; to try without them, use --image bundled", strings.Join(possible, ", "))
	}
	return nil
}

// buildRequest starts a build, or joins one in progress. It returns which digest the image has. If
// the build is still running after an error, failed gets it.
func (p *Provider) buildRequest(ctx context.Context, arch string, r cloudbuild.Request, failed *CloudError) (joined bool, digest string, err error) {
	client, err := p.Cloud(ctx)
	if err != nil {
		return false, "", err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	p.Show.Step("asking Cloud Build for the image")
	build, err := client.Start(ctx, r)
	if err != nil {
		return false, "", err
	}
	if build.Joined {
		fmt.Fprintf(p.Show.Log, "Cloud Build is making it already: %s\n", build.URL)
	} else {
		fmt.Fprintf(p.Show.Log, "Cloud Build makes it: %s\n", build.URL)
	}
	client.Changed = func(status string) {
		if status == "QUEUED" {
			p.Show.Step("waiting for a machine of Cloud Build")
		} else {
			p.Show.Step("Cloud Build makes " + path.Base(r.Image))
		}
	}
	digest, err = client.Follow(ctx, build, p.Show.Log)
	var ended *cloudbuild.FailedError
	if err != nil {
		if !errors.As(err, &ended) {
			failed.Running, failed.Cancelled = build, ctx.Err() != nil && p.cancelled(ctx, client, build)
		}
		return build.Joined, "", err
	}
	if digest == "" { // the build did not say it
		digest, err = p.Images.Digest(ctx, r.Image, arch)
	}
	if err == nil && digest == "" {
		err = fmt.Errorf("build %s succeeded, but there is no image %s: see %s", build.ID(), r.Image, build.URL)
	}
	return build.Joined, digest, err
}

// cancelTime limits how long an interrupted run takes to cancel its build.
const cancelTime = 10 * time.Second

// cancelled cancels the build of an interrupted run, if that is wanted, and reports whether it did.
func (p *Provider) cancelled(ctx context.Context, client *cloudbuild.Client, build cloudbuild.Build) bool {
	if !p.CancelBuild || build.Joined {
		return false
	}
	p.Show.Step("cancelling the build")
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	return client.Cancel(ctx, build) == nil // else the user is told how to
}
