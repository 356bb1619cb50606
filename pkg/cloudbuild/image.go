package cloudbuild

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/pattern"
	"github.com/kubectl-kinetic/kinetic/pkg/wheel"
)

// uvImage is where the build takes uv from.
const uvImage = "ghcr.io/astral-sh/uv:0.11.1"

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
}

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
	return fmt.Sprintf("%q has credentials, which everyone with access to the build would see: put them into ~/.netrc instead, and use --image prebuilt: then the pod gets them", e.Line)
}

var (
	// reference is what a name of an image consists of. (What it may not have are the blanks
	// and quotes with which it could be more than a name in a Dockerfile.)
	reference = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$`)
	git       = pattern.Lazy(`\bgit\+`)
)

// check reports what can't be built.
func (i Image) check() error {
	if !reference().MatchString(i.Base) {
		return fmt.Errorf("the base image %q: expected a reference such as python:3.12-slim", i.Base)
	}
	if i.Installer != UV && i.Installer != Pip {
		return fmt.Errorf("the installer %q: expected %s or %s", i.Installer, UV, Pip)
	}
	for _, line := range slices.Concat(i.Options, i.Requirements, i.Constraints) {
		if strings.ContainsAny(line, "\r\n\x00") {
			return fmt.Errorf("the requirement %q has more than one line", line)
		}
		if deps.HasCredentials(line) {
			return &CredentialsError{deps.Hidden(line)}
		}
	}
	if len(i.Requirements) == 0 {
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
	files := []File{
		{dockerfileName, []byte(i.dockerfile())},
		{requirementsName, text(slices.Concat(i.Options, i.Requirements))},
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

// venv returns the layer that makes the prefix a virtual environment.
func (i Image) venv(ctx context.Context) ([]byte, error) {
	layer, err := wheel.Venv(ctx, i.Layout, i.Interpreter, i.Environment)
	if err != nil {
		return nil, err
	}
	r, err := layer.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

// tool is a command that a build needs, and the packages of Debian that have it.
type tool struct{ command, packages string }

// tools returns what the installer needs beside Python.
func (i Image) tools() []tool {
	var tools []tool
	if i.Compiled {
		tools = append(tools, tool{"cc", "build-essential"})
	}
	if slices.ContainsFunc(slices.Concat(i.Requirements, i.Constraints), git().MatchString) {
		tools = append(tools, tool{"git", "ca-certificates git"})
	}
	return tools
}

// dockerfile returns the Dockerfile. In an environment, the image is the base with one more layer: tools, caches
// and the user that installs stay in other stages.
func (i Image) dockerfile() string {
	prefix := "/" + i.Layout.Prefix
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }

	if i.InBase {
		line("FROM %s", i.Base)
		line("RUN %s", strings.Join(append(i.mounts(), i.install()...), " \\\n    "))
		return b.String()
	}
	line("FROM %s AS tools", i.Base)
	line("USER root")
	line(`SHELL ["/bin/sh", "-c"]`)
	if tools := i.tools(); tools != nil {
		var commands, packages []string
		for _, t := range tools {
			commands, packages = append(commands, "command -v "+t.command), append(packages, t.packages)
		}
		// A base without apt-get may have a compiler under another name.
		line("RUN %s || ! command -v apt-get || { \\", strings.Join(commands, " && "))
		line("    export DEBIAN_FRONTEND=noninteractive; apt-get update \\")
		line("    && apt-get install -y --no-install-recommends %s \\", strings.Join(packages, " "))
		line("    && rm -rf /var/lib/apt/lists/*; }")
	}
	line("")
	line("FROM tools AS env")
	line("ADD %s /", venvName)
	line("RUN %s", strings.Join(append(i.mounts(), i.install()...), " \\\n    "))
	line("")
	line("FROM %s", i.Base)
	line("COPY --from=env %s %[1]s", prefix)
	line("ENV PATH=%s/bin:$PATH VIRTUAL_ENV=%[1]s", prefix)
	return b.String()
}

// mounts returns what exists only while packages are installed.
func (i Image) mounts() []string {
	mounts := []string{"--mount=type=bind,target=/source"}
	if i.Installer == UV {
		mounts = append(mounts, "--mount=type=bind,from="+uvImage+",source=/uv,target=/bin/uv")
	}
	return mounts
}

// install returns the command that installs all packages. HOME is root's, because that of the base
// may be another user's.
func (i Image) install() []string {
	python := "/" + i.Layout.Prefix + "/bin/python"
	if i.InBase {
		python = i.Interpreter
	}
	var command []string
	if i.Installer == UV {
		command = append(command, "HOME=/root uv pip install --python "+python, "--no-cache --compile-bytecode")
		if slices.Contains(i.Options, "--pre") {
			command = append(command, "--prerelease=allow") // uv ignores --pre in a file
		}
	} else {
		command = append(command, "HOME=/root "+i.Interpreter+" -m pip --python "+python+" install",
			"--no-cache-dir --compile --no-input --disable-pip-version-check")
	}
	if i.Hashed {
		command = append(command, "--require-hashes")
	}
	if i.Complete {
		command = append(command, "--no-deps")
	}
	if len(i.Constraints) > 0 {
		command = append(command, "-c /source/"+constraintsName)
	}
	return append(command, "-r /source/"+requirementsName)
}
