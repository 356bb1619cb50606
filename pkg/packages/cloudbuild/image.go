package cloudbuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// Image is an image with an environment, whose Dockerfile is written here.
type Image struct {
	Base        string       // a reference, better with a digest: "python:3.12-slim@sha256:…"
	Layout      wheel.Layout // where the environment stands; its Python must be the base's
	Interpreter string       // the base's: "/usr/local/bin/python3.12"
	Environment string       // the virtual environment that the base's Python is in, "" for none
	// InBase is whether packages go into the base's own Python instead of an environment.
	InBase    bool
	Installer Installer

	// Requirements, Constraints and Options are lines as in a requirements file. Options are
	// those of pip, such as "--index-url URL". None may have credentials.
	Requirements, Constraints, Options []string
	Hashed                             bool // whether every requirement must have a hash
	Complete                           bool // whether nothing else is installed for the requirements
	Compiled                           bool // whether a package has to be compiled
	// Large are packages with a layer each, the lowest first. Requirements does not name them.
	Large []Package
}

// Package is a package whose layer depends on it, on the base's Python and on nothing else. So a
// registry and the nodes keep the layer when other packages change.
type Package struct {
	Project     string // its normalized name: "nvidia-cudnn-cu12"
	Requirement string // the file to install: "nvidia-cudnn-cu12 @ https://…#sha256=…"
}

func (p Package) name() string { return "package-" + p.Project }

func (p Package) file() string { return p.name() + ".txt" }

// Installer is a program that installs packages.
type Installer string

// The installers. Pip is that of the base image.
const (
	UV  Installer = "uv"
	Pip Installer = "pip"
)

// The files beside the Dockerfile.
const (
	venvName         = "env.tar.gz"
	requirementsName = "requirements.txt"
	constraintsName  = "constraints.txt"
)

// CredentialsError says that a line has credentials. Everyone who may read builds of the
// project would see them.
type CredentialsError struct {
	Line string // without the credentials
}

// Error says what to do instead.
func (e *CredentialsError) Error() string {
	return fmt.Sprintf("%q has credentials, which everyone with access to the build would see: put them into ~/.netrc instead, and use --image prebuilt so that the pod gets them", e.Line)
}

const (
	// project is a normalized name of a project.
	project = `^[a-z0-9]+(-[a-z0-9]+)*$`
	// reference is what a name of an image consists of. (What it may not have are the blanks
	// and quotes with which it could be more than a name in a Dockerfile.)
	reference = `^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$`
	git       = `\bgit\+`
)

// check reports what can't be built.
func (i Image) check() error {
	if !lazyregexp.Of(reference).MatchString(i.Base) {
		return fmt.Errorf("the base image %q: expected a reference such as python:3.12-slim", i.Base)
	}
	lines := slices.Concat(i.Options, i.Requirements, i.Constraints)
	for _, p := range i.Large {
		if !lazyregexp.Of(project).MatchString(p.Project) {
			return fmt.Errorf("the project %q: expected a normalized name such as nvidia-cudnn-cu12", p.Project)
		}
		lines = append(lines, p.Requirement)
	}
	for _, line := range lines {
		if strings.ContainsAny(line, "\r\n\x00") {
			return fmt.Errorf("the requirement %q has more than one line", line)
		}
		if deps.HasCredentials(line) {
			return &CredentialsError{deps.Hidden(line)}
		}
	}
	if len(i.Requirements)+len(i.Large) == 0 {
		return errors.New("there is nothing to install: the base image can be used as it is")
	}
	return nil
}

// Source returns the source of the image. Its environment has the same files and variables as
// one of package image.
func (i Image) Source(ctx context.Context) (Source, error) {
	if err := i.check(); err != nil {
		return Source{}, fmt.Errorf("preparing the build of an image: %w", err)
	}
	files := []File{{dockerfileName, []byte(i.dockerfile())}}
	if len(i.Requirements) > 0 {
		files = append(files, File{requirementsName, text(slices.Concat(i.Options, i.Requirements))})
	}
	for _, p := range i.Large {
		files = append(files, File{p.file(), text([]string{p.Requirement})})
	}
	if !i.InBase {
		venv, err := i.venv(ctx)
		if err != nil {
			return Source{}, fmt.Errorf("preparing the build of an image: %w", err)
		}
		files = append(files, File{venvName, venv})
	}
	if len(i.Constraints) > 0 {
		files = append(files, File{constraintsName, text(i.Constraints)})
	}
	reused := Nothing
	if i.tools() != nil && !i.InBase {
		reused = Tools
	}
	return newSource(reused, files)
}

func text(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

func (i Image) venv(ctx context.Context) ([]byte, error) {
	layer, err := wheel.Venv(ctx, i.Layout, i.Interpreter, i.Environment)
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer
	_, err = layer.WriteTo(&data)
	return data.Bytes(), err
}
