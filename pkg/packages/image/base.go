package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// Facts are what a base image has.
type Facts struct {
	Digest      string `json:"digest"`      // of the image for its architecture, not of an index
	Arch        string `json:"arch"`        // "amd64"
	Python      string `json:"python"`      // "3.12"
	FullPython  string `json:"fullPython"`  // "3.12.7", "" if it is not known
	Interpreter string `json:"interpreter"` // "/usr/local/bin/python3.12"
	Environment string `json:"environment"` // the virtual environment that it is in, such as "/opt/venv", or ""
	Libc        string `json:"libc"`        // "glibc 2.36" or "musl 1.2"
}

// Target returns what wheels are chosen for.
func (f Facts) Target() wheel.Target {
	return wheel.Target{Python: f.Python, Arch: f.Arch, Libc: f.Libc}
}

// BaseError says why an image cannot be the base of others.
type BaseError struct {
	Ref string
	Err error
}

// Error names the image, the reason and what helps.
func (e *BaseError) Error() string { return fmt.Sprintf("the base image %s: %v", e.Ref, e.Err) }

// Unwrap returns the reason.
func (e *BaseError) Unwrap() error { return e.Err }

// Inspect finds out what the image of an architecture has. The configuration of Docker's
// official images says what their Python is; for others, and for the C library, it reads
// layers. The client's memory keeps the result.
func (c *Client) Inspect(ctx context.Context, ref, arch string) (Facts, error) {
	s, err := c.session(arch)
	if err != nil {
		return Facts{}, err
	}
	_, f, err := s.base(ctx, ref, arch)
	return f, err
}

func (s *session) base(ctx context.Context, ref, arch string) (v1.Image, Facts, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return nil, Facts{}, &BaseError{ref, err}
	}
	fail := func(err error) (v1.Image, Facts, error) {
		switch {
		case missing(err):
			err = &BaseError{ref, errors.New("there is no such image; check its name")}
		case ctx.Err() != nil || status(err) != 0 || unreachable(err):
			err = failed(ctx, readBase+ref+" from", parsed.Context(), err)
		default:
			err = &BaseError{ref, err}
		}
		return nil, Facts{}, err
	}
	descriptor, err := asked(ctx, s, parsed, (*remote.Puller).Get)
	if err != nil {
		return fail(err)
	}
	if err := hasPlatform(descriptor, arch); err != nil {
		return fail(err)
	}
	image, err := descriptor.Image()
	if err != nil {
		return fail(err)
	}
	f, err := s.facts(ctx, image, arch)
	if err != nil {
		return fail(err)
	}
	return image, f, nil
}

// facts returns what an image has, from memory if it was inspected before.
func (s *session) facts(ctx context.Context, image v1.Image, arch string) (Facts, error) {
	digest, err := image.Digest()
	if err != nil {
		return Facts{}, err
	}
	f, key := Facts{}, "facts with environment "+digest.String()
	if s.memory.Load(key, &f) && f.Digest == digest.String() && f.Arch == arch {
		return f, nil
	}
	if f, err = inspect(ctx, image, arch); err != nil {
		return Facts{}, err
	}
	f.Digest = digest.String()
	s.memory.Save(key, f)
	return f, nil
}

// hasPlatform reports whether an index has no image of the architecture. That of a single
// image is in its configuration.
func hasPlatform(d *remote.Descriptor, arch string) error {
	if !d.MediaType.IsIndex() {
		return nil
	}
	index, err := d.ImageIndex()
	if err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	var has []string
	for _, m := range manifest.Manifests {
		if p := m.Platform; p != nil && p.OS != "unknown" { // unknown is an attestation
			has = append(has, p.OS+"/"+p.Architecture)
		}
	}
	if slices.Contains(has, "linux/"+arch) {
		return nil
	}
	return noPlatform(arch, has)
}

func noPlatform(arch string, has []string) error {
	return fmt.Errorf("it is not available for linux/%s, only for %s; choose another image or accelerator", arch, strings.Join(slices.Compact(has), ", "))
}

func inspect(ctx context.Context, image v1.Image, arch string) (Facts, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return Facts{}, err
	}
	if config.OS != "linux" || config.Architecture != arch {
		return Facts{}, noPlatform(arch, []string{config.OS + "/" + config.Architecture})
	}
	layers, err := image.Layers()
	if err != nil {
		return Facts{}, err
	}
	f := Facts{Arch: arch}
	files := findings{path: pathOf(config.Config), files: map[string]string{}, links: map[string]string{}}
	if f.Python, f.FullPython = official(config.Config); f.Python != "" {
		f.Interpreter, files.python = "/usr/local/bin/python"+f.Python, f.Python
	} else {
		slices.Reverse(layers) // a file of an upper layer replaces that of a lower one
	}
	for _, l := range layers {
		if err := files.read(ctx, l); err != nil {
			return Facts{}, err
		}
	}
	if f.Python == "" {
		if f.Interpreter, f.Python, f.Environment, err = files.interpreter(); err != nil {
			return Facts{}, err
		}
	}
	if f.Libc, err = files.libc(); err != nil {
		return Facts{}, err
	}
	if _, err := f.Target().Tags(); err != nil {
		return Facts{}, err
	}
	return f, nil
}

// official returns the version of Python, X.Y and X.Y.Z, if the configuration is that of one of Docker's
// official images, or of an image made from one. Others set PYTHON_VERSION too and have their
// Python elsewhere, but not the hash or key of its source.
func official(c v1.Config) (python, full string) {
	full = lazyregexp.Of(release).FindString(variable(c.Env, "PYTHON_VERSION"))
	major, rest, _ := strings.Cut(full, ".")
	minor, _, ok := strings.Cut(rest, ".")
	signed := variable(c.Env, "PYTHON_SHA256") != "" || variable(c.Env, "GPG_KEY") != ""
	if version := major + "." + minor; ok && signed && lazyregexp.Of(versioned).MatchString("python"+version) && pathOf(c)[0] == "/usr/local/bin" {
		return version, full
	}
	return "", ""
}

// release is the version of a release, without what a prerelease has behind it.
const release = `^[0-9]+\.[0-9]+\.[0-9]+`

// defaultPath is what a container's PATH is if the image doesn't say.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func pathOf(c v1.Config) []string {
	return strings.Split(cmp.Or(variable(c.Env, "PATH"), defaultPath), ":")
}

// variable returns the value of a variable, "" if it is not set.
func variable(env []string, name string) string {
	for _, e := range env {
		if key, value, _ := strings.Cut(e, "="); key == name {
			return value
		}
	}
	return ""
}

// noPython is the error for an image that has no Python that can be used.
const noPython = "there is no python3 on its PATH; name an image that has CPython, such as python:3.12-slim"
