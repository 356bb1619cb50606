package deps

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// Distribution is what importlib.metadata would say about a project if it were installed.
type Distribution struct {
	Name string
	// Version is "" if only the build of the project knows it.
	Version string
	// EntryPoints is the text of entry_points.txt, "" without entry points.
	EntryPoints string
}

// DistributionOf returns the project that the pyproject.toml in a directory describes. Without a name that can be
// installed, the result is empty: who reads what the project needs reports mistakes.
func DistributionOf(dir string) (d Distribution) {
	var p struct {
		Project struct {
			Name, Version string
			Scripts       map[string]string
			EntryPoints   map[string]map[string]string `toml:"entry-points"`
		}
		Tool struct {
			Poetry struct {
				Name, Version string
				Scripts       map[string]any // a table is a file
				Plugins       map[string]map[string]string
			}
		}
	}
	text, err := readText(filepath.Join(dir, string(Project)), string(Project))
	if err != nil || Decode(text, string(Project), &p) != nil {
		return d
	}
	d.Name = cmp.Or(p.Project.Name, p.Tool.Poetry.Name)
	if !lazyregexp.Of(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`).MatchString(d.Name) {
		return Distribution{}
	}
	if version := cmp.Or(p.Project.Version, p.Tool.Poetry.Version); lazyregexp.Of(`^[A-Za-z0-9.!+_-]+$`).MatchString(version) {
		d.Version = version
	}
	scripts := map[string]string{}
	for name, value := range p.Tool.Poetry.Scripts {
		if value, isText := value.(string); isText {
			scripts[name] = value
		}
	}
	maps.Copy(scripts, p.Project.Scripts)
	groups := map[string]map[string]string{"console_scripts": scripts}
	maps.Copy(groups, p.Tool.Poetry.Plugins)
	maps.Copy(groups, p.Project.EntryPoints)
	d.EntryPoints = entryPoints(groups)
	return d
}

func entryPoints(groups map[string]map[string]string) string {
	var text strings.Builder
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		if len(groups[group]) == 0 || strings.ContainsAny(group, "]\n") {
			continue
		}
		fmt.Fprintf(&text, "[%s]\n", group)
		for _, name := range slices.Sorted(maps.Keys(groups[group])) {
			if value := groups[group][name]; !strings.ContainsAny(name+value, "=\n") {
				fmt.Fprintf(&text, "%s = %s\n", name, value)
			}
		}
	}
	return text.String()
}
