package resolve

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
)

// steering are the variables that decide which packages uv and pip choose, from
// https://docs.astral.sh/uv/reference/environment and https://pip.pypa.io/en/stable/cli/pip_install.
func steering() []string {
	return strings.Fields(`
		PIP_CONSTRAINT PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_IGNORE_REQUIRES_PYTHON PIP_INDEX_URL PIP_NO_BINARY PIP_NO_DEPS PIP_NO_INDEX
		PIP_ONLY_BINARY PIP_PRE PIP_PREFER_BINARY PIP_REQUIREMENT PIP_UPLOADED_PRIOR_TO PIP_USE_DEPRECATED PIP_USE_FEATURE
		UV_CONSTRAINT UV_DEFAULT_INDEX UV_EXCLUDE UV_EXCLUDE_NEWER UV_EXTRA_INDEX_URL UV_FIND_LINKS UV_FORK_STRATEGY UV_INDEX UV_INDEX_STRATEGY
		UV_INDEX_URL UV_NO_BINARY UV_NO_BINARY_PACKAGE UV_NO_BUILD UV_NO_BUILD_PACKAGE UV_NO_CONFIG UV_NO_SOURCES UV_OVERRIDE
		UV_PRERELEASE UV_RESOLUTION UV_TORCH_BACKEND`)
}

// Steering returns what steers uv and pip beside the files of a project: variables, without
// credentials, and the hashes of the files and directories of links that variables name and of configuration files. There is
// nothing on a machine where nobody has set anything.
func (r Resolver) Steering() (all []string) {
	for _, name := range steering() {
		var values []string
		text := r.getenv(name)
		if name == "UV_FIND_LINKS" { // the only one with commas
			text = strings.ReplaceAll(text, ",", " ")
		}
		for _, value := range strings.Fields(text) {
			if sum := sumOf(name, value); sum != "" {
				value = sum
			}
			values = append(values, deps.WithoutUsers(value))
		}
		if len(values) > 0 {
			all = append(all, name+"="+strings.Join(values, " "))
		}
	}
	for _, path := range r.configurations() {
		if text, err := os.ReadFile(path); err == nil {
			all = append(all, fmt.Sprintf("%s %x", filepath.Base(path), sha256.Sum256([]byte(deps.WithoutUsers(string(text))))))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// configurations returns where uv and pip look for their configuration files.
func (r Resolver) configurations() []string {
	files := append(r.pipFiles(), r.uvFiles()...)
	if named := r.getenv("UV_CONFIG_FILE"); named != "" {
		files = append(files, named)
	}
	return files
}

// uvFiles returns where uv looks for the configuration of a user and of a machine.
func (r Resolver) uvFiles() (files []string) {
	in := func(dir string) {
		if dir != "" {
			files = append(files, filepath.Join(dir, "uv", "uv.toml"))
		}
	}
	if runtime.GOOS == "windows" {
		in(r.getenv("APPDATA"))
		in(r.getenv("PROGRAMDATA"))
		return files
	}
	in(r.configDir())
	in("/etc")
	in("/etc/xdg")
	return files
}

// sumOf returns the hash of what a variable names: of a file, and of a directory of links; "" for all else.
func sumOf(name, value string) string {
	path := strings.TrimPrefix(value, "file://")
	info, err := os.Stat(path)
	if err != nil || info.IsDir() && !strings.HasSuffix(name, "_FIND_LINKS") || !info.IsDir() && !info.Mode().IsRegular() {
		return ""
	}
	sum, err := deps.LinksSum(path)
	if err != nil {
		return ""
	}
	return sum
}
