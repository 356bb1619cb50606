package deps

import (
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// isExport reports whether requirements are what another tool has exported from its lock: each has the lock's version,
// and what it needs there is among them, markers aside.
func isExport(lines []Line, lock []byte) bool {
	type locked struct {
		Name, Version string
		Dependencies  any
	}
	var f struct {
		Packages []locked `toml:"package"`
		PyLock   []locked `toml:"packages"`
	}
	if err := Decode(lock, "", &f); err != nil {
		return false
	}
	versions, needs := map[string][]string{}, map[string][]string{}
	for _, p := range slices.Concat(f.Packages, f.PyLock) {
		name := requirement.Normalize(p.Name)
		versions[name] = append(versions[name], p.Version)
		needs[name] = append(needs[name], alwaysNeeded(p.Dependencies)...)
	}
	listed := map[string]bool{}
	for _, l := range lines {
		r, err := requirement.Parse(l.Text)
		name := requirement.Normalize(r.Name)
		version, pinned := r.Specifiers.Pinned()
		if err != nil || r.URL == "" && (!pinned || !slices.Contains(versions[name], version)) {
			return false
		}
		listed[name] = true
	}
	for name := range listed {
		for _, other := range needs[name] {
			if versions[other] != nil && !listed[other] {
				return false
			}
		}
	}
	return true
}

// alwaysNeeded returns the names of a package's dependencies that have no condition, in the forms of uv, PDM and Poetry.
func alwaysNeeded(dependencies any) (names []string) {
	add := func(name string, of any) {
		table, isTable := of.(map[string]any)
		_, isString := of.(string)
		if isString || isTable && table["marker"] == nil && table["markers"] == nil && table["optional"] == nil {
			names = append(names, requirement.Normalize(name))
		}
	}
	switch all := dependencies.(type) {
	case map[string]any: // Poetry
		for name, of := range all {
			add(name, of)
		}
	case []any:
		for _, of := range all {
			switch one := of.(type) {
			case string: // PDM
				if !strings.Contains(one, ";") {
					add(requirement.LeadingName(one), one)
				}
			case map[string]any: // uv
				name, _ := one["name"].(string)
				add(name, one)
			}
		}
	}
	return names
}
