package submit

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// installs reports whether the job gets its packages from us, and not from the user's own image
// or machine.
func (p *Planned) installs() bool {
	return !isOwn(p.request.Image) && p.Spec.Backend != api.BackendLocal
}

// isOwn reports whether --image names an image of the user, and not a mode.
func isOwn(image string) bool {
	return image != "" && image != string(decide.Bundled) && image != string(decide.Prebuilt)
}

// WithEnvironment returns the plan of a job that uses the packages that were provided for it.
func (p Planned) WithEnvironment(e decide.Provided) Planned {
	p.Environment, p.provided = e.Plan, e
	p.Spec.Image, p.Spec.ImageMoves, p.Spec.EnvironmentSHA256 = e.Image, e.Plan.Moves(), e.SHA256
	p.Warnings = append(slices.Clip(p.Warnings), e.Warnings...)
	if e.Netrc != "" {
		secrets := map[string]string{}
		maps.Copy(secrets, p.Secrets)
		secrets[api.Contract.Names.Netrc] = e.Netrc
		p.Secrets = secrets
		p.Spec.SecretEnv = slices.Sorted(maps.Keys(p.Secrets))
	}
	return p
}

// Started returns the Spec as it is applied. What its pods run can't be replaced any more: an image that was made, or found, has its
// digest beside its name.
func (p Planned) Started() api.Spec {
	s := p.Spec
	if p.Environment.Mode == decide.Bundled && len(p.provided.Digests) > 0 {
		s.Image, s.ImageMoves = s.Image+"@"+p.provided.Digests[0], false
	}
	return s
}

// Packages returns wheels as a handle names them.
func Packages(wheels []wheel.Source) (all []api.Package) {
	for _, w := range wheels {
		all = append(all, api.Package{File: w.File, SHA256: w.SHA256})
	}
	return all
}

// needsPython reports whether the version of this machine's Python decides about the image.
func (p *Planned) needsPython() bool {
	i := withProfile(p.request.Images, p.Target)
	return p.installs() && p.payload.Python == "" && i.Python == "" && i.BaseImage == "" && i.BaseImageRepo == ""
}

// findDeps returns what the project needs. If nothing is installed, a mistake in its files is one
// of its warnings.
func (p *Planned) findDeps(layout pack.Layout, entryDir string, c api.Call, m Machine) (deps.Wanted, error) {
	i := p.request.Images
	if layout.Nothing && i.Requirements == "" {
		return deps.Wanted{}, nil
	}
	o := deps.Options{Root: layout.Root, EntryDir: entryDir, Home: m.Home, Cwd: m.Cwd, File: i.Requirements, Extras: i.Extras, Groups: i.Groups, Texts: m.Texts}
	if path.Ext(c.File) == ".py" {
		o.Script = filepath.Join(layout.Root, filepath.FromSlash(c.File))
	}
	found, err := deps.Find(o)
	if i.NoDeps { // it only tells what a missing module would be
		found.Warnings = nil
		return found, nil
	}
	if err != nil && !p.installs() && i.Requirements == "" {
		found.Warnings = append(found.Warnings, err.Error())
		return found, nil
	}
	return found, err
}

// moduleDirs returns the directories with the modules of projects that travel with the job, relative to the
// package root, without those that are known already: src, or that of the project. Installing it has the same effect.
func moduleDirs(projects []string, root string, known []string) []string {
	var found []string
	for _, dir := range projects {
		if src := filepath.Join(dir, "src"); platform.IsDir(src) && !platform.IsFile(filepath.Join(src, "__init__.py")) {
			dir = src
		}
		rel, err := filepath.Rel(root, dir)
		if err != nil || !filepath.IsLocal(rel) || !platform.IsDir(dir) {
			continue
		}
		rel = filepath.ToSlash(rel)
		isKnown := func(dir string) bool { return path.Clean(dir) == rel }
		if !slices.ContainsFunc(known, isKnown) && !slices.Contains(found, rel) {
			found = append(found, rel)
		}
	}
	return found
}

// chooseEnvironment decides where the job's packages come from.
func (p *Planned) chooseEnvironment(r api.Request, m Machine) (err error) {
	if p.Spec.Backend == api.BackendLocal {
		return nil
	}
	if err := p.checkUnused(r); err != nil {
		return err
	}
	where := p.Target.Known()
	images, err := p.pickledBy(withProfile(r.Images, where))
	if err != nil {
		return err
	}
	p.Environment, err = decide.New(decide.Input{
		Images: images, Image: r.Image, Wanted: p.Deps, Root: p.Root, Accelerator: p.Spec.Accelerator,
		Repository: config.Repository(where.Project, where.Zone, where.Cluster),
		Python:     p.pythonHere, Version: version.String(), Unwritable: m.Unwritable, Pathways: p.Spec.Pathways != nil, Debug: r.Debug, Steering: m.Steering,
	})
	if err != nil {
		return err
	}
	p.Spec.Image, p.Spec.ImageMoves = p.Environment.Image, p.Environment.Moves()
	if p.Environment.Mode == decide.Custom {
		return nil
	}
	p.Warnings = append(p.Warnings, p.Deps.Warnings...)
	p.Warnings = append(p.Warnings, p.Environment.Warnings...)
	if backend := p.Environment.KerasBackend(p.Spec.Accelerator.Kind); backend != "" && !p.sets(kerasBackend) {
		p.Spec.Env = append(p.Spec.Env[:len(p.Spec.Env):len(p.Spec.Env)], api.EnvVar{Name: kerasBackend, Value: backend})
	}
	return nil
}

// withProfile completes what flags and variables say about images with what the profile says.
func withProfile(i api.Images, t config.Target) api.Images {
	i.ImageRepo = cmp.Or(i.ImageRepo, t.ImageRepo)
	if i.BaseImage == "" && i.BaseImageRepo == "" && i.Python == "" {
		i.BaseImage, i.BaseImageRepo = t.BaseImage, t.BaseImageRepo
	}
	return i
}

// kerasBackend is the variable that tells Keras what computes.
const kerasBackend = "KERAS_BACKEND"

// checkUnused rejects flags that the mode of the image makes meaningless.
func (p *Planned) checkUnused(r api.Request) error {
	type flag struct {
		name string
		set  bool
	}
	unused := []flag{{"--builder", r.Images.Builder != ""}, {"--verify-layers", r.Images.VerifyLayers}}
	why := "the pod installs the packages, and no image is made; use --image bundled"
	switch {
	case !p.installs():
		unused = append(unused, flag{"--requirements", r.Images.Requirements != ""}, flag{"--extra", len(r.Images.Extras) > 0},
			flag{"--group", len(r.Images.Groups) > 0}, flag{"--runtime", r.Images.Runtime != ""}, flag{"--python", r.Images.Python != ""},
			flag{"--refresh-deps", r.Images.RefreshDeps}, flag{"--image-upload-limit", r.Images.UploadLimit > 0})
		why = "nothing is installed in an image of your own; use --image bundled or prebuilt"
	case r.Image != string(decide.Prebuilt):
		return nil
	}
	for _, f := range unused {
		if f.set {
			return fmt.Errorf("%s cannot be combined with --image %s (or KINETIC_IMAGE): %s", f.name, r.Image, why)
		}
	}
	return nil
}
