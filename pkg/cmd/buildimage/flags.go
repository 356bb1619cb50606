package buildimage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/packaging"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

type flags struct {
	connection  *connect.Flags
	images      api.Images // what needs no parsing; BaseImageRepo is --repo
	baseGiven   bool       // whether --base-image was typed
	categories  []string
	tag         string
	dockerfile  string
	uploadLimit string
	yes         bool
	output      string
}

func newFlags() *flags { return &flags{connection: connect.NewFlags()} }

func categories() []string { return []string{"cpu", "gpu", "tpu"} }

func (f *flags) sections() []cli.Section {
	s := cli.NewSection("Flags")
	fs, i := s.Flags, &f.images
	fs.StringVar(&i.BaseImageRepo, "repo", "", "Put the images into `REPOSITORY`. Default: KINETIC_BASE_IMAGE_REPO, else the profile's repository.")
	fs.StringSliceVar(&f.categories, "category", nil, "Build the image for `CATEGORY`: cpu, gpu or tpu; can be repeated. Default: all.")
	s.Offer("category", categories()...)
	fs.StringVar(&f.tag, "tag", "", "Tag the images with `TAG`. Default: the version of this program, whose jobs look for that tag.")
	fs.StringVar(&f.dockerfile, "dockerfile", "", "Build the images from the Dockerfile `FILE` in Cloud Build. It can't copy local files.")
	fs.StringVar(&i.Python, "python", "", "Build on Docker's python image, version `X.Y`. Default: the version of this machine's python3.")
	s.Offer("python", decide.Pythons()...)
	fs.StringVar(&i.BaseImage, "base-image", "", "Build on the image `URI`, which must be derived from Docker's python image. Default: KINETIC_BASE_IMAGE.")
	fs.StringVar(&i.Builder, "builder", "", "Make images with `BUILDER`: client (this machine), cloudbuild, or auto (this machine if it can; the default).")
	s.Offer("builder", decide.Builders()...)
	fs.StringVar(&f.uploadLimit, "image-upload-limit", "", "Send at most `SIZE` of packages for an image from this machine. Default: 512Mi.")
	fs.BoolVarP(&f.yes, "yes", "y", false, "Don't ask for confirmation.")
	s.FormatVar(&f.output, "Print as `FORMAT`: json.", cli.JSON)
	connection := f.connection.Section()
	for _, name := range []string{"namespace", "store"} { // about jobs
		connection.Flags.Lookup(name).Hidden = true
	}
	return []cli.Section{s, connection}
}

func (f *flags) toOptions(ctx context.Context, streams genericiooptions.IOStreams, now clock.PassiveClock, getenv func(string) string) (*options, error) {
	place, err := f.connection.ResolveStored()
	if err != nil {
		return nil, err
	}
	if err := f.read(place, getenv); err != nil {
		return nil, err
	}
	o := &options{streams: streams, ui: ui.New(streams.ErrOut, now.Now), now: now.Now, categories: f.categories, yes: f.yes, output: f.output}
	if f.dockerfile != "" {
		if o.dockerfile, err = os.ReadFile(f.dockerfile); err != nil {
			return nil, fmt.Errorf("--dockerfile %s: %w", f.dockerfile, err)
		}
		if len(o.dockerfile) == 0 {
			return nil, fmt.Errorf("--dockerfile %s: the file is empty", f.dockerfile)
		}
	}
	if err := f.checkCloudBuild(place); err != nil {
		return nil, err
	}
	machine, err := submit.ThisMachine(getenv, os.Getwd, streams.In)
	if err != nil {
		return nil, err
	}
	python := ""
	if f.images.Python == "" && f.images.BaseImage == "" && f.dockerfile == "" {
		python = submit.PythonVersion(ctx, machine)
	}
	for _, category := range f.categories {
		p, err := decide.NewBase(decide.Input{Images: f.images, Accelerator: api.Accelerator{Kind: api.AcceleratorKind(category)}, Python: python}, f.tag)
		if err != nil {
			return nil, err
		}
		o.plans = append(o.plans, p)
	}
	o.provider = packaging.Provider(ctx, packaging.Place{Project: place.Project, Zone: place.Zone, Cluster: place.Cluster},
		machine.CacheDir, now.Now)
	return o, nil
}

func (f *flags) read(place config.Target, getenv func(string) string) error {
	if err := f.readCategories(); err != nil {
		return err
	}
	if err := f.readImages(place, getenv); err != nil {
		return err
	}
	f.tag = cmp.Or(f.tag, decide.BaseTag(version.String()))
	if _, err := name.NewTag("base:" + f.tag); err != nil {
		return fmt.Errorf("--tag %q: expected at most 128 letters, digits and ._-", f.tag)
	}
	return nil
}

// readCategories makes the categories those that are wanted, each once.
func (f *flags) readCategories() error {
	if f.categories == nil {
		f.categories = categories()
	}
	if len(f.categories) == 0 {
		return errors.New("--category: the value is empty: set one, or omit the flag")
	}
	for _, c := range f.categories {
		if err := cli.OneOf("--category", c, categories()); err != nil {
			return err
		}
	}
	slices.Sort(f.categories)
	f.categories = slices.Compact(f.categories)
	return nil
}

// readImages completes what the flags say about images.
func (f *flags) readImages(place config.Target, getenv func(string) string) error {
	i := &f.images
	repository := cmp.Or(i.BaseImageRepo, getenv("KINETIC_BASE_IMAGE_REPO"), place.BaseImageRepo)
	if repository == "" {
		return errors.New("--repo: name the repository for the images, such as us-docker.pkg.dev/PROJECT/kn-CLUSTER, here or in KINETIC_BASE_IMAGE_REPO")
	}
	if _, err := name.NewRepository(decide.BaseName(repository, api.CPU)); err != nil || strings.HasSuffix(repository, "/") {
		return fmt.Errorf("--repo %q: expected a repository without a tag, such as us-docker.pkg.dev/PROJECT/kn-CLUSTER", repository)
	}
	i.ImageRepo, i.BaseImageRepo = repository, ""
	f.baseGiven = i.BaseImage != ""
	if i.BaseImage == "" && i.Python == "" {
		i.BaseImage = getenv("KINETIC_BASE_IMAGE")
	}
	if i.Builder != "" {
		if err := cli.OneOf("--builder", i.Builder, decide.Builders()); err != nil {
			return err
		}
	}
	var err error
	i.UploadLimit, err = packaging.UploadLimit(f.uploadLimit)
	return err
}

// checkCloudBuild rejects what only Cloud Build does where it does not.
func (f *flags) checkCloudBuild(place config.Target) error {
	i, flag := f.images, "--dockerfile "+f.dockerfile
	switch {
	case f.dockerfile != "" && i.Builder == string(decide.BuilderClient):
		return fmt.Errorf("%s cannot be combined with --builder client: only Cloud Build runs Dockerfiles", flag)
	case f.dockerfile != "" && (i.Python != "" || f.baseGiven):
		return fmt.Errorf("%s cannot be combined with --python or --base-image: its FROM lines set the base image", flag)
	case f.dockerfile == "" && i.Builder != string(decide.BuilderCloudBuild):
		return nil
	case f.dockerfile == "":
		flag = "--builder cloudbuild"
	}
	if !decide.InArtifactRegistry(i.ImageRepo) {
		return fmt.Errorf("%s: Cloud Build pushes to Artifact Registry, such as us-docker.pkg.dev/PROJECT/kn-CLUSTER, not to --repo %s", flag, i.ImageRepo)
	}
	if place.Project == "" || place.Cluster == "" {
		return fmt.Errorf("%s: name the project and the cluster whose Cloud Build is used: --project, --cluster", flag)
	}
	return nil
}
