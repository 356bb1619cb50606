package cloudbuild

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// uvImage is where the build takes uv from. Whoever can move its tag would run code as the service
// account of builds, so the digest counts.
const uvImage = "ghcr.io/astral-sh/uv:0.11.1@sha256:fc93e9ecd7218e9ec8fba117af89348eef8fd2463c50c13347478769aaedd0ce"

// tool is a command that a build needs, and the packages of Debian that have it.
type tool struct{ command, packages string }

// tools returns what the installer needs beside Python.
func (i Image) tools() []tool {
	var tools []tool
	if i.Compiled {
		tools = append(tools, tool{"cc", "build-essential"})
	}
	if slices.ContainsFunc(slices.Concat(i.Requirements, i.Constraints), lazyregexp.Of(git).MatchString) {
		tools = append(tools, tool{"git", "ca-certificates git"})
	}
	return tools
}

// dockerfile returns the Dockerfile. What it adds to the base is a layer for each large package, and above
// them one with all others: tools, caches and the user that installs stay in other stages.
func (i Image) dockerfile() string {
	prefix := "/" + i.Layout.Prefix
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	run := func(commands ...string) {
		line("RUN %s", strings.Join(slices.Concat(i.mounts(), commands), " \\\n    "))
	}

	if !i.InBase || len(i.Large) > 0 {
		i.toolsStage(line)
	}
	for _, p := range i.Large {
		line("FROM tools AS %s", p.name())
		run(i.installAlone(p)...)
		line("")
	}
	if !i.InBase {
		line("FROM tools AS env")
		if len(i.Requirements) > 0 {
			run(i.install()...)
		}
		line("")
	}
	line("FROM %s", i.Base)
	for _, p := range i.Large { // with --link, a layer does not depend on those below it
		line("COPY --link --from=%s %s/ /", p.name(), alone)
	}
	switch {
	case !i.InBase:
		line("COPY --from=env %s %[1]s", prefix)
		line("ENV PATH=%s/bin:$PATH VIRTUAL_ENV=%[1]s", prefix)
	case len(i.Requirements) > 0:
		run(i.install()...)
	}
	return b.String()
}

// toolsStage writes the stage in which packages are installed: the base, what the installer needs
// beside Python, and the environment without packages.
func (i Image) toolsStage(line func(format string, args ...any)) {
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
	if !i.InBase {
		line("ADD %s /", venvName)
	}
	line("")
}

// mounts returns what exists only while packages are installed.
func (i Image) mounts() []string {
	mounts := []string{"--mount=type=bind,target=/source"}
	if i.Installer == UV {
		mounts = append(mounts, "--mount=type=bind,from="+uvImage+",source=/uv,target=/bin/uv")
	}
	return mounts
}

// python is the path of the Python for which packages are installed.
func (i Image) python() string {
	if i.InBase {
		return i.Interpreter
	}
	return "/" + i.Layout.Prefix + "/bin/python"
}

// installer returns the command that installs. HOME is root's, because that of the base may be
// another user's.
func (i Image) installer() []string {
	if i.Installer == UV {
		return []string{"HOME=/root uv pip install --python " + i.python(), "--no-cache"}
	}
	return []string{"HOME=/root " + i.Interpreter + " -m pip --python " + i.python() + " install", "--no-cache-dir --no-input --disable-pip-version-check"}
}

// install returns the command that installs all packages but the large ones.
func (i Image) install() []string {
	command := i.installer()
	if i.Installer == UV {
		command = append(command, "--compile-bytecode")
		if slices.Contains(i.Options, "--pre") {
			command = append(command, "--prerelease=allow") // uv ignores --pre in a file
		}
	} else {
		command = append(command, "--compile")
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

// alone is where a large package is installed by itself, as it will stand below /.
const alone = "/alone"

// installAlone returns the commands that install a large package below alone, such that the files
// are the same in every build: its layer is then in the registry already.
//
// What uv notes about itself has a time in it. Bytecode is made by one process in a fixed order, and with
// the hash of its source, since a layer above may have another source at its place; pip and uv would note
// the time of the source. Modules that can't be compiled are left as they are, as by pip and uv.
func (i Image) installAlone(p Package) []string {
	command := i.installer()
	if i.Installer == UV {
		command[0] = "UV_NO_INSTALLER_METADATA=1 " + command[0]
	} else {
		command = append(command, "--no-compile --ignore-installed --no-warn-script-location")
	}
	return append(command,
		"--no-deps --prefix "+alone+"/"+i.Layout.Prefix+" -r /source/"+p.file(),
		"&& { PYTHONHASHSEED=0 "+i.python()+" -m compileall -qq -s "+alone+" -p / --invalidation-mode checked-hash "+alone+" || true; }",
		fmt.Sprintf("&& find %s -exec touch -h -d @%d {} +", alone, packed().Unix()))
}
