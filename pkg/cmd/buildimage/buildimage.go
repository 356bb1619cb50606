// Package buildimage is the command `kubectl kinetic build-image`: it makes the images that the
// images of jobs are made on.
package buildimage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/packaging"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
)

const long = `Build base images for jobs, with Python, JAX and Keras: one each for CPU, GPU and TPU
machines. Jobs use them with --base-image-repo or KINETIC_BASE_IMAGE_REPO, and then
install only what their project adds.

The images are REPOSITORY/base-cpu, base-gpu and base-tpu. This machine builds them
from wheels, for any registry that docker is logged in to, if it can resolve the
packages and they are not larger than --image-upload-limit. Otherwise Cloud Build
builds them, for Artifact Registry. Existing images are rebuilt with the newest
packages.

Exit codes: 0 all images were built; 1 at least one was not; 2 the command line or the
input is wrong, and nothing was built; 130 interrupted.`

const examples = `  # all three, in Artifact Registry
  kubectl kinetic build-image --repo us-docker.pkg.dev/my-project/kn-kinetic-cluster --project my-project

  # only the one for GPUs, from this machine, to any registry
  kubectl kinetic build-image --repo docker.io/me --category gpu --builder client --image-upload-limit 4Gi

  # from a Dockerfile of your own
  kubectl kinetic build-image --repo us-docker.pkg.dev/my-project/kn-kinetic-cluster --project my-project --category cpu --dockerfile Dockerfile`

// NewCommand returns the command `kubectl kinetic build-image`. The clock is for how long images
// take.
func NewCommand(streams genericiooptions.IOStreams, now clock.PassiveClock) *cobra.Command {
	f := newFlags()
	c := &cobra.Command{
		Use:               "build-image [flags]",
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic build-image"},
		Short:             "Build base images for jobs",
		Long:              long,
		Example:           examples,
		Args:              cli.NoArguments("; name the repository with --repo"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: cli.RunE(func(ctx context.Context, _ []string) error {
			o, err := f.toOptions(ctx, streams, now, os.Getenv)
			if err != nil {
				return cli.Usage(err)
			}
			return o.run(ctx)
		}),
	}
	cli.AddSections(c, f.sections()...)
	return c
}

type options struct {
	streams genericiooptions.IOStreams
	ui      *ui.UI
	now     func() time.Time

	plans      []decide.Plan // one for each category
	categories []string
	dockerfile []byte // nil for ours
	yes        bool
	output     string
	provider   *provide.Provider
}

// built is one image, or why there is none.
type built struct {
	Category string  `json:"category"`
	Image    string  `json:"image"`
	Builder  string  `json:"builder,omitempty"`
	Digest   string  `json:"digest,omitempty"`
	Seconds  float64 `json:"seconds"`
	Error    string  `json:"error,omitempty"`

	err error
}

func (o *options) run(ctx context.Context) error {
	if err := o.confirm(ctx); err != nil {
		return err
	}
	all := o.build(ctx)
	if err := o.print(all); err != nil {
		return err
	}
	return o.result(ctx, all)
}

// confirm asks before anything is pushed.
func (o *options) confirm(ctx context.Context) error {
	if o.yes {
		return nil
	}
	question := human.Count(len(o.plans), "image") + " would be built and pushed"
	if why := cli.CannotAsk(o.streams); why != "" {
		return cli.Usagef("%s; %s: confirm with --yes", question, why)
	}
	for i, p := range o.plans {
		o.ui.Note(fmt.Sprintf("%-10s  %s", o.categories[i], p.Image))
	}
	if create := creation(o.plans[0].Repository); create != "" {
		o.ui.Note("the repository must exist: " + create)
	}
	return cli.Confirm(ctx, o.streams, question, "nothing was built")
}

// creation returns the command that creates a repository in Artifact Registry, "" for another registry.
func creation(repository string) string {
	parts := strings.Split(repository, "/")
	location, ours := strings.CutSuffix(parts[0], "-docker.pkg.dev")
	if !ours || len(parts) < 3 {
		return ""
	}
	project, name := parts[1], parts[2]
	if strings.Contains(project, ".") && len(parts) > 3 { // of a domain
		project, name = project+":"+name, parts[3]
	}
	return fmt.Sprintf("gcloud artifacts repositories create %s --repository-format=docker --location=%s --project=%s", name, location, project)
}

// build makes all images at the same time. One that fails does not end the others.
func (o *options) build(ctx context.Context) []built {
	all := make([]built, len(o.plans))
	show := newProgress(o.ui, o.categories)
	defer show.done()
	parallel.Each(len(all), o.plans, func(i int, _ decide.Plan) { all[i] = o.one(ctx, i, show) })
	return all
}

func (o *options) one(ctx context.Context, number int, show *progress) built {
	category, plan := o.categories[number], o.plans[number]
	log := o.ui.Lines(o.streams.ErrOut, category)
	defer log.Close()
	maker := *o.provider
	maker.Show = provide.Show{
		Step: func(what string) { show.step(category, what) },
		Making: func(m image.Progress) {
			show.step(category, fmt.Sprintf("%d of %s, %s sent", m.Done, human.Count(m.Wheels, "package"), human.Bytes(m.Sent)))
		},
		Log: log,
	}
	began := o.now()
	done, err := o.make(ctx, &maker, plan)
	b := built{Category: category, Image: plan.Image, Seconds: o.now().Sub(began).Round(100 * time.Millisecond).Seconds()}
	if err != nil {
		b.err, b.Error = err, err.Error()
		show.step(category, "failed")
		return b
	}
	for _, w := range done.Warnings {
		o.ui.Warn(category + ": " + w)
	}
	b.Builder = string(done.Builder)
	if len(done.Digests) > 0 {
		b.Digest = done.Digests[0]
	}
	show.step(category, "done")
	return b
}

// elsewhere is the other way to make an image.
const elsewhere = "a repository in Artifact Registry, with --project and --cluster: Cloud Build makes the image then"

// make makes an image, and says what would help if it can't.
func (o *options) make(ctx context.Context, maker *provide.Provider, plan decide.Plan) (decide.Provided, error) {
	if o.dockerfile != nil {
		return maker.BuildDockerfile(ctx, plan, o.dockerfile)
	}
	done, err := maker.Provide(ctx, plan, "")
	switch {
	case errors.As(err, new(*provide.CloudError)): // which says all
	case errors.As(err, new(*image.LimitError)):
		err = fmt.Errorf("%w: allow more, or use %s", err, elsewhere)
	case errors.As(err, new(*resolve.NotHereError)), errors.As(err, new(*resolve.NeedsBuildError)):
		err = fmt.Errorf("%w; or use %s", err, elsewhere)
	}
	return done, err
}

// result returns the errors of all images that were not made, and the exit code. What is still
// being built was not made, either.
func (o *options) result(ctx context.Context, all []built) error {
	var failed []string
	mistaken := true
	for _, b := range all {
		if cloud, ok := errors.AsType[*provide.CloudError](b.err); ok && ctx.Err() != nil && cloud.Running.Name != "" {
			o.ui.Note(cloud.Going())
		}
		mistaken = mistaken && packaging.Mistaken(b.err)
		if b.err != nil {
			failed = append(failed, b.Category+": "+strings.TrimRight(b.Error, "\n"))
		}
	}
	switch {
	case len(failed) == 0:
		return nil
	case ctx.Err() != nil:
		return cli.Exit(cli.ExitInterrupted)
	}
	err := fmt.Errorf("%d of %s could not be built:\n%s", len(failed), human.Count(len(all), "image"), strings.Join(failed, "\n"))
	if len(all) == 1 {
		err = fmt.Errorf("making %s: %w", all[0].Image, all[0].err)
	}
	if mistaken {
		return cli.Usage(err)
	}
	return &cli.Error{Code: cli.ExitFailed, Err: err}
}
