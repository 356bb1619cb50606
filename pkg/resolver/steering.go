package resolver

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/deps"
)

// steering are the variables that decide which packages uv and pip choose, from
// https://docs.astral.sh/uv/reference/environment and https://pip.pypa.io/en/stable/cli/pip_install.
var steering = strings.Fields(`
	PIP_CONSTRAINT PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_IGNORE_REQUIRES_PYTHON PIP_INDEX_URL PIP_NO_BINARY PIP_NO_DEPS PIP_NO_INDEX
	PIP_ONLY_BINARY PIP_PRE PIP_PREFER_BINARY PIP_REQUIREMENT PIP_UPLOADED_PRIOR_TO PIP_USE_DEPRECATED PIP_USE_FEATURE
	UV_CONSTRAINT UV_DEFAULT_INDEX UV_EXCLUDE UV_EXCLUDE_NEWER UV_EXTRA_INDEX_URL UV_FIND_LINKS UV_FORK_STRATEGY UV_INDEX UV_INDEX_STRATEGY
	UV_INDEX_URL UV_NO_BINARY UV_NO_BINARY_PACKAGE UV_NO_BUILD UV_NO_BUILD_PACKAGE UV_NO_CONFIG UV_NO_INDEX UV_NO_SOURCES UV_OVERRIDE
	UV_PRERELEASE UV_RESOLUTION UV_TORCH_BACKEND`)

// Steering returns what steers uv and pip beside the files of a project: variables, without
// credentials, and the hashes of the files that variables name and of configuration files. There is
// nothing on a machine where nobody has set anything.
func (r Resolver) Steering() (all []string) {
	for _, name := range steering {
		var values []string
		for _, value := range strings.Fields(r.getenv(name)) {
			if sum := fileSum(value); sum != "" {
				value = sum
			}
			values = append(values, deps.WithoutUsers(value))
		}
		if len(values) > 0 {
			all = append(all, name+"="+strings.Join(values, " "))
		}
	}
	for _, path := range r.configurations() {
		if sum := fileSum(path); sum != "" {
			all = append(all, filepath.Base(path)+" "+sum)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// configurations returns where uv and pip look for their configuration files.
func (r Resolver) configurations() []string {
	var files []string
	in := func(dir, file string) {
		if dir != "" {
			files = append(files, filepath.Join(dir, filepath.FromSlash(file)))
		}
	}
	for _, name := range []string{"PIP_CONFIG_FILE", "UV_CONFIG_FILE"} {
		in(r.getenv(name), "")
	}
	in(r.getenv("VIRTUAL_ENV"), "pip.conf")
	switch runtime.GOOS {
	case "windows":
		for _, name := range []string{"APPDATA", "PROGRAMDATA"} {
			in(r.getenv(name), "pip/pip.ini")
			in(r.getenv(name), "uv/uv.toml")
		}
		return files
	case "darwin":
		in(r.Home, "Library/Application Support/pip/pip.conf")
		files = append(files, "/Library/Application Support/pip/pip.conf")
	}
	user := r.getenv("XDG_CONFIG_HOME")
	if user == "" && r.Home != "" {
		user = filepath.Join(r.Home, ".config")
	}
	in(user, "pip/pip.conf")
	in(user, "uv/uv.toml")
	in(r.Home, ".pip/pip.conf")
	return append(files, "/etc/pip.conf", "/etc/xdg/pip/pip.conf", "/etc/uv/uv.toml", "/etc/xdg/uv/uv.toml")
}

// fileSum returns the hash of a file, "" if there is none that can be read.
func fileSum(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
