package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// module is a module with at least one package that is linked.
type module struct {
	path, version, dir string
	packages           []string // directories, in dir
}

const listFormat = `{{if not .Standard}}{{with .Module}}{{if not .Main}}` +
	"{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}" + `{{end}}{{end}}{{end}}`

// linked returns the modules that the plugins link on any of platforms, GOOS/GOARCH, by
// path. The main module is not among them.
func linked(tags string, platforms []string) ([]module, error) {
	if len(platforms) == 0 {
		return nil, errors.New("no platforms given: name at least one, as in linux/amd64")
	}
	found := map[string]module{}
	for _, platform := range platforms {
		lines, err := list(tags, platform)
		if err != nil {
			return nil, err
		}
		for _, line := range lines {
			column := strings.Split(line, "\t")
			if len(column) != 4 || column[2] == "" {
				return nil, fmt.Errorf("go list says %q: run go mod download", line)
			}
			m := found[column[0]]
			m.path, m.version, m.dir = column[0], column[1], column[2]
			m.packages = append(m.packages, column[3])
			found[m.path] = m
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b module) int { return cmp.Compare(a.path, b.path) }), nil
}

// list returns a line for each package that the plugins link on a platform.
func list(tags, platform string) ([]string, error) {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return nil, fmt.Errorf("platform %q: expected GOOS/GOARCH", platform)
	}
	command := exec.Command("go", "list", "-deps", "-tags", tags, "-f", listFormat, "./plugins/...")
	command.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w", platform, err)
	}
	return strings.Split(strings.TrimSpace(string(output)), "\n"), nil
}
