package decide

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// Mode is how a job gets its packages.
type Mode string

// The modes.
const (
	Bundled  Mode = "bundled"  // they are in an image that is made for them
	Prebuilt Mode = "prebuilt" // the pod installs them on a base image
	Custom   Mode = "custom"   // the user's image has them
)

// Builder is what makes images.
type Builder string

// The builders.
const (
	BuilderAuto       Builder = "auto" // this machine if it can, else Cloud Build
	BuilderClient     Builder = "client"
	BuilderCloudBuild Builder = "cloudbuild"
)

// Builders returns the valid values, the default first.
func Builders() []string {
	return []string{string(BuilderAuto), string(BuilderClient), string(BuilderCloudBuild)}
}

// Input is what decides about a job's environment.
type Input struct {
	api.Images
	// Image is the mode or the image that was named, "" for none.
	Image       string
	Wanted      deps.Wanted
	Root        string // the package root, absolute
	Accelerator api.Accelerator
	// Repository is where images go if nobody says, "" if there is no such place.
	Repository string
	// Python is the version of this machine's Python, X.Y, "" if it has none.
	Python string
	// Version is that of this program, which names the images of build-image.
	Version string
	// Unwritable returns why images can't be sent to a repository, as far as an earlier run found
	// out; "" if they can.
	Unwritable func(repository string) string
	// Pathways means that the job uses the Pathways runtime.
	Pathways bool
	// Debug means that the job waits for a debugger.
	Debug bool
	// Steering is what steers a resolver beside the project's files, such as variables.
	Steering []string
}

// Plan is what was decided.
type Plan struct {
	Mode Mode
	// Asked means that the mode was named, so that there is no other way.
	Asked bool
	// Why says why this mode is not the default one, "" if it is or was named.
	Why string
	// Image is what the pods run.
	Image string
	// Repository and Tag name the image that is to be made; "" if there is nothing to install, or
	// the pod installs it.
	Repository, Tag string
	Base            Base
	Arch            string
	// InBase means that the packages are added to the base's own Python: the image is a base, too.
	InBase bool
	Root   string
	Wanted deps.Wanted
	// Added and AddedOptions are the requirements of the runtime.
	Added, AddedOptions []string
	// Key is the hash of everything that is wished for.
	Key string
	// Locked are the wheels of a lock, as far as they are known without asking a registry.
	Locked []wheel.Source
	// locked are the names of the packages that a lock has for this target, nil if it was not read.
	locked   []string
	steering []string
	// Settings are the flags that say how an image is made.
	Settings api.Images
	// Warnings are sentences for the user.
	Warnings []string
}

// New decides about a job's environment. All its errors are mistakes in the input.
func New(in Input) (Plan, error) {
	p := Plan{Root: in.Root, Wanted: in.Wanted, Arch: cmp.Or(in.Accelerator.Arch, "amd64"), Settings: in.Images, steering: in.Steering}
	switch in.Image {
	case "":
		p.Mode = Bundled
	case string(Bundled), string(Prebuilt):
		p.Mode, p.Asked = Mode(in.Image), true
	default:
		p.Mode, p.Asked, p.Image = Custom, true, in.Image
		return p, nil
	}
	if err := p.chooseBase(in); err != nil {
		return p, err
	}
	if in.NoDeps {
		p.Wanted = deps.Wanted{}
	}
	kind := in.Accelerator.Kind
	if in.Pathways { // the chips belong to another container
		kind = api.CPU
	}
	p.addRuntime(cmp.Or(Runtime(in.Runtime), RuntimeAuto), kind)
	if err := p.readLock(); err != nil {
		return p, err
	}
	if err := p.addPathways(in); err != nil {
		return p, err
	}
	if err := p.addDebugger(in); err != nil {
		return p, err
	}
	if err := p.checkHashes(); err != nil {
		return p, err
	}
	p.warnWithoutPlugin(kind)
	if p.Empty() {
		p.Image = p.Base.Ref
		return p, nil
	}
	var err error
	if p.Key, err = p.key(); err != nil {
		return p, err
	}
	return p, p.choosePlace(in)
}

// NewBase decides about an image that others are made on: it has the runtime of a kind of accelerator.
// The repository and the tag are those of build-image. A tag that exists is made again.
func NewBase(in Input, tag string) (Plan, error) {
	in.Image, in.Runtime, in.RefreshDeps = string(Bundled), string(RuntimeJAX), true
	p, err := New(in)
	if err != nil {
		return p, err
	}
	p.InBase = true
	p.Repository, p.Tag = BaseName(in.ImageRepo, in.Accelerator.Kind), tag
	p.Image = p.Repository + ":" + tag
	return p, nil
}

// AddsRuntime reports whether JAX is added to what the project lists.
func (p Plan) AddsRuntime() bool { return len(p.Added) > 0 && p.Added[0] != debugger }

// HasRuntime reports whether the job gets JAX and Keras that fit its accelerator.
func (p Plan) HasRuntime() bool {
	return p.AddsRuntime() || p.Base.Runtime && p.Settings.Runtime != string(RuntimeNone)
}

// Empty reports whether there is nothing to install. A lock may have packages without requirements
// beside it.
func (p Plan) Empty() bool {
	switch {
	case p.Mode == Custom:
		return false
	case p.Wanted.Kind.IsLock():
		return p.locked != nil && len(p.locked) == 0
	}
	return len(p.Wanted.Requirements)+len(p.Added)+len(p.Wanted.Unfetched) == 0
}

// choosePlace decides where the packages are installed.
func (p *Plan) choosePlace(in Input) (err error) {
	repository := cmp.Or(in.ImageRepo, in.Repository)
	switch {
	case p.Mode == Prebuilt:
	case repository == "" && p.Asked:
		return errors.New("--image bundled needs a place for the image: name a repository with --image-repo or KINETIC_IMAGE_REPO, or the cluster's project with --project")
	case repository == "":
		p.Mode, p.Why = Prebuilt, "no repository for images is known (--image-repo)"
	case !p.Asked && in.Unwritable != nil && in.Unwritable(repository) != "":
		p.Mode, p.Why = Prebuilt, in.Unwritable(repository)
	default:
		if p.Tag, err = p.tag(); err != nil {
			return err
		}
		p.Repository, p.Image = repository, repository+":"+p.Tag
		if p.Settings.Builder == string(BuilderCloudBuild) {
			if err := p.Buildable(); err != nil {
				return fmt.Errorf("--builder cloudbuild: %w", err)
			}
		}
		return nil
	}
	p.Image = p.Base.Ref
	return nil
}

// Buildable returns an error if Cloud Build can't make the image, wherever the job runs.
func (p Plan) Buildable() error {
	if !InArtifactRegistry(p.Repository) {
		return fmt.Errorf("it sends images to Artifact Registry only, not to %s", p.Repository)
	}
	if p.Arch != "amd64" {
		return fmt.Errorf("it makes images for amd64 only, not for %s", p.Arch)
	}
	for _, l := range p.Wanted.Requirements {
		if l.Path != "" {
			return fmt.Errorf("it can't access the project's files, such as %q (%s)", l.Text, l.Place())
		}
	}
	for _, w := range p.Locked {
		if w.Path != "" {
			return fmt.Errorf("it can't access the project's files, such as %s (%s)", w.Path, p.Wanted.Source)
		}
	}
	return nil
}

// Moves reports whether the name of the plan's image may come to stand for another one: resolving
// again, or build-image, moves it.
func (p Plan) Moves() bool {
	return strings.HasPrefix(p.Tag, "r-") || p.Tag == "" && p.Mode != Custom && p.Settings.BaseImage == "" && p.Settings.BaseImageRepo != ""
}

// InArtifactRegistry reports whether a repository of images is one of Artifact Registry.
func InArtifactRegistry(repository string) bool {
	host, _, _ := strings.Cut(repository, "/")
	return strings.HasSuffix(host, ".pkg.dev")
}

// AsPrebuilt returns the plan by which the pod installs the packages, because they can't be in an
// image.
func (p Plan) AsPrebuilt(why string) Plan {
	p.Mode, p.Why, p.Image, p.Repository, p.Tag = Prebuilt, why, p.Base.Ref, "", ""
	return p
}

func (p *Plan) chooseBase(in Input) error {
	custom := in.BaseImage
	ours := custom == "" && in.BaseImageRepo != ""
	if ours {
		custom = BaseName(in.BaseImageRepo, in.Accelerator.Kind) + ":" + BaseTag(in.Version)
	}
	if custom != "" {
		if in.Images.Python != "" {
			return fmt.Errorf("--python %s cannot be combined with a base image of your own, %s (--base-image, --base-image-repo, or their variables): it has its Python", in.Images.Python, custom)
		}
		p.Base = Base{Ref: custom, Runtime: ours}
		return nil
	}
	python := in.Images.Python
	if python != "" && !slices.Contains(Pythons(), python) {
		return fmt.Errorf("--python %s: there are base images for %s; name another with --base-image", python, strings.Join(Pythons(), ", "))
	}
	if python == "" {
		python = allowed(cmp.Or(in.Python, newest()), in.Wanted.RequiresPython)
	}
	p.Base = baseFor(python)
	if !in.NoDeps && !fits(p.Base, in.Wanted.RequiresPython) {
		return fmt.Errorf("%s requires Python %s, and the job would have Python %s: choose another with --python or --base-image", in.Wanted.Source, in.Wanted.RequiresPython, p.Base.full())
	}
	return nil
}

func newest() string { return Pythons()[len(Pythons())-1] }

// allowed returns a version of Python, or the nearest one if the project excludes it: packages have wheels for the
// newest one last.
func allowed(python, requires string) string {
	below := ""
	for _, b := range Bases() {
		switch isBelow := comparePythons(b.Python, python) < 0; {
		case !fits(b, requires):
		case isBelow:
			below = b.Python
		default:
			return b.Python
		}
	}
	return cmp.Or(below, python)
}

// fits reports whether the Python of a base is one that a project is for. Whoever resolves reports a
// condition that can't be read.
func fits(b Base, requires string) bool {
	conditions, err := requirement.ParseSpecifiers(requires)
	if requires == "" || err != nil {
		return true
	}
	v, err := requirement.ParseVersion(b.full())
	return err == nil && conditions.Contain(v)
}
