package deps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// pylock is a pylock.toml (PEP 751).
type pylock struct {
	Version        string `toml:"lock-version"`
	Environments   []string
	RequiresPython string   `toml:"requires-python"`
	Extras         []string `toml:"extras"`
	Groups         []string `toml:"dependency-groups"`
	DefaultGroups  []string `toml:"default-groups"`
	Packages       []pylockPackage
}

type pylockPackage struct {
	Name, Version, Marker string
	RequiresPython        string `toml:"requires-python"`
	Wheels                []file
	Sdist                 *file
	Archive               *file
	VCS                   *struct {
		Type, URL, Path string
		CommitID        string `toml:"commit-id"`
		Subdirectory    string
	}
	Directory *struct{ Path, Subdirectory string }
}

// ReadPyLock reads a pylock.toml.
func ReadPyLock(text []byte, o LockOptions) (Lock, error) {
	var f pylock
	if err := Decode(text, o.Name, &f); err != nil {
		return Lock{}, err
	}
	l, err := f.read(o)
	if err != nil {
		return Lock{}, fmt.Errorf("%s: %w", o.Name, err)
	}
	return l.sorted(), nil
}

func (f pylock) read(o LockOptions) (l Lock, err error) {
	if major, _, _ := strings.Cut(f.Version, "."); major != "1" {
		return l, fmt.Errorf("its lock-version is %q: only 1.0 can be read", f.Version)
	}
	if err := o.known(f.Extras, f.Groups); err != nil {
		return l, err
	}
	o.Groups = slices.Concat(o.Groups, f.DefaultGroups)
	if err := o.CheckPython(f.RequiresPython); err != nil {
		return l, err
	}
	if err := o.checkEnvironment(f.Environments); err != nil {
		return l, err
	}
	seen := map[string]string{}
	for _, p := range f.Packages {
		wanted, err := o.holds(p.Marker, o.Environment())
		if err != nil {
			return l, fmt.Errorf("package %s: %w", p.Name, err)
		}
		if !wanted {
			continue
		}
		name := requirement.Normalize(p.Name)
		if other, twice := seen[name]; twice {
			return l, fmt.Errorf("package %s appears twice for this environment, as %s and %s", name, other, p.Version)
		}
		seen[name] = p.Version
		if p.Directory != nil {
			l.Local = append(l.Local, name)
			continue
		}
		chosen, err := p.chosen(o)
		if err != nil {
			return l, err
		}
		l.Packages = append(l.Packages, chosen)
	}
	return l, nil
}

// checkEnvironment returns an error if a lock is only for environments with other markers.
func (o LockOptions) checkEnvironment(environments []string) error {
	for _, marker := range environments {
		ok, err := o.holds(marker, o.Environment())
		if ok || err != nil {
			return err
		}
	}
	if len(environments) > 0 {
		return fmt.Errorf("it is not for %s: its environments are %s", o.Target, strings.Join(environments, "; "))
	}
	return nil
}

// known returns an error if an extra or a group is wanted that the file doesn't have.
func (o LockOptions) known(extras, groups []string) error {
	for _, set := range []struct {
		what          string
		wanted, known []string
	}{{"extra", o.Extras, extras}, {"group", o.Groups, groups}} {
		for _, name := range set.wanted {
			if slices.ContainsFunc(set.known, func(k string) bool { return requirement.Normalize(k) == requirement.Normalize(name) }) {
				continue
			}
			if len(set.known) == 0 {
				return fmt.Errorf("it has no %s %q: it has none at all", set.what, name)
			}
			return fmt.Errorf("it has no %s %q: it has %s", set.what, name, strings.Join(set.known, ", "))
		}
	}
	return nil
}

func (p pylockPackage) chosen(o LockOptions) (Package, error) {
	chosen := Package{Name: requirement.Normalize(p.Name), Version: p.Version}
	if err := o.CheckPython(p.RequiresPython); err != nil {
		return chosen, fmt.Errorf("package %s: %w", p.Name, err)
	}
	files := p.Wheels
	switch {
	case p.VCS != nil:
		chosen.Source = fmt.Sprintf("%s+%s@%s", p.VCS.Type, p.VCS.URL, p.VCS.CommitID)
		if p.VCS.Subdirectory != "" {
			chosen.Source += "#subdirectory=" + p.VCS.Subdirectory
		}
	case p.Archive != nil && strings.HasSuffix(lastPart(p.Archive.URL, p.Archive.Path), ".whl"):
		files = []file{*p.Archive}
	case p.Archive != nil && p.Archive.URL == "" && p.Archive.Subdirectory != "":
		return chosen, fmt.Errorf("package %s: a project in the directory %s of the archive %s can't be installed: unpack it in the project, and lock its directory", p.Name, p.Archive.Subdirectory, p.Archive.Path)
	case p.Archive != nil:
		chosen.source(*p.Archive)
	case p.Sdist != nil:
		chosen.source(*p.Sdist)
	}
	return chosen, chosen.choose(files, o)
}
