package deps

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// uvLock is a uv.lock. Its format is uv's own; versions of the same number are compatible.
type uvLock struct {
	Version        int
	RequiresPython string      `toml:"requires-python"`
	Environments   []string    `toml:"supported-markers"` // the environments of [tool.uv]: uv has resolved for no others
	Packages       []uvPackage `toml:"package"`
	Manifest       struct {
		Overrides []uvDependency // which replace what projects require of these packages
		// Groups are those of a pyproject.toml without [project].
		Groups map[string][]uvDependency `toml:"dependency-groups"`
	}
}

type uvPackage struct {
	Name, Version string
	Source        uvSource
	Markers       []string `toml:"resolution-markers"`
	Dependencies  []uvDependency
	Optional      map[string][]uvDependency `toml:"optional-dependencies"`
	Dev           map[string][]uvDependency `toml:"dev-dependencies"`
	Sdist         *file
	Wheels        []file
	// Metadata is what the project required when it was locked. Dependencies lack those of it that can't be
	// needed, such as those for a Python that the project does not support.
	Metadata struct {
		Requires    []uvDependency            `toml:"requires-dist"`
		DevRequires map[string][]uvDependency `toml:"requires-dev"`
	}
}

// id tells the packages of a lock apart, several of which may have the same name.
func (p uvPackage) id() string { return p.Name + " " + p.Version + " " + fmt.Sprint(p.Source) }

// uvSource is where a package comes from: one of its fields is set, and Subdirectory beside a URL.
type uvSource struct {
	Registry, Git, URL, Path, Directory, Editable, Virtual string

	Subdirectory string
}

// isCode reports whether the package is a project on this machine.
func (s uvSource) isCode() bool { return s.Directory != "" || s.Editable != "" || s.Virtual != "" }

// located returns the files of a package with their paths if they are on this machine: that of a
// package which is one file is the source's, and those of a directory of links are relative to it.
func (s uvSource) located(files []file) []file {
	files = slices.Clone(files)
	for i := range files {
		f := &files[i]
		switch {
		case s.Path != "" && f.URL == "":
			f.Path = s.Path
		case s.Registry != "" && !strings.Contains(s.Registry, "://") && f.Path != "":
			f.linked = true
			if !filepath.IsAbs(f.Path) {
				f.Path = path.Join(filepath.ToSlash(s.Registry), f.Path)
			}
		}
	}
	return files
}

type uvDependency struct {
	Name, Version, Marker string
	Source                uvSource
	Extra                 []string
	Extras                []string // the same in a manifest
}

// ReadUV reads the uv.lock of a project. project is the project's name, "" if the file has
// only one.
func ReadUV(text []byte, project string, o LockOptions) (Lock, error) {
	var f uvLock
	if err := Decode(text, o.Name, &f); err != nil {
		return Lock{}, err
	}
	l, err := f.read(project, o)
	if err != nil {
		return Lock{}, fmt.Errorf("%s: %w", o.Name, err)
	}
	return l.sorted(), nil
}

// Unhashed returns the paths of the wheels and source archives that a uv.lock names without their hashes: those in directories of
// links.
func Unhashed(text []byte, o LockOptions) (paths []string, err error) {
	var f uvLock
	if err := Decode(text, o.Name, &f); err != nil {
		return nil, err
	}
	for _, p := range f.Packages {
		files := slices.Clone(p.Wheels)
		if p.Sdist != nil {
			files = append(files, *p.Sdist)
		}
		for _, f := range p.Source.located(files) {
			if f.linked && f.sha256() == "" {
				paths = append(paths, o.path(f))
			}
		}
	}
	return paths, nil
}

func (f uvLock) read(project string, o LockOptions) (Lock, error) {
	if f.Version != 1 {
		return Lock{}, fmt.Errorf("its version is %d: only 1 can be read", f.Version)
	}
	if err := o.CheckPython(f.RequiresPython); err != nil {
		return Lock{}, err
	}
	if err := o.checkEnvironment(f.Environments); err != nil {
		return Lock{}, err
	}
	root, err := f.project(project)
	if err != nil {
		return Lock{}, err
	}
	if err := o.known(slices.Sorted(maps.Keys(root.Optional)), slices.Sorted(maps.Keys(root.Dev))); err != nil {
		return Lock{}, err
	}
	w := uvWalk{lock: f, options: o, env: o.Environment(), visited: map[string]bool{}, chosen: map[string]bool{}}
	w.env.Extras = slices.Clone(w.env.Extras)
	// uv names conflicting extras and groups by the project that has them.
	for _, extra := range o.Extras {
		w.env.Extras = append(w.env.Extras, fmt.Sprintf("extra-%d-%s-%s", len(root.Name), root.Name, extra))
	}
	for _, group := range o.Groups {
		w.env.Extras = append(w.env.Extras, fmt.Sprintf("group-%d-%s-%s", len(root.Name), root.Name, group))
	}
	if err := w.visit(root, o.Extras); err != nil {
		return Lock{}, err
	}
	for _, group := range o.Groups {
		dependencies, _ := byName(root.Dev, group)
		if err := w.follow(root, dependencies); err != nil {
			return Lock{}, err
		}
	}
	return w.found, w.checkFresh(root)
}

// checkFresh returns an error if the project requires something that the lock does not know of, or another
// version than the one that was chosen.
func (w *uvWalk) checkFresh(root uvPackage) error {
	known := map[string]bool{requirement.Normalize(root.Name): true}
	all := [][]uvDependency{root.Dependencies, root.Metadata.Requires, w.lock.Manifest.Overrides}
	for _, of := range []map[string][]uvDependency{root.Optional, root.Dev, root.Metadata.DevRequires} {
		all = slices.AppendSeq(all, maps.Values(of))
	}
	for _, dependencies := range all {
		for _, d := range dependencies {
			known[requirement.Normalize(d.Name)] = true
		}
	}
	for _, r := range w.options.Wanted {
		if needed, err := r.Marker.Holds(w.env); err != nil || !needed {
			continue // such as one for Windows, which uv may leave out; a wrong marker is uv's to report
		}
		if !known[requirement.Normalize(r.Name)] {
			return fmt.Errorf("it is out of date and lacks %s, which pyproject.toml lists: run uv lock", r.Name)
		}
		if err := w.checkVersion(r); err != nil {
			return err
		}
	}
	return nil
}

// checkVersion returns an error if a package of an index was chosen in another version than the project requires.
func (w *uvWalk) checkVersion(r requirement.Requirement) error {
	is := func(name string) bool { return requirement.Normalize(name) == requirement.Normalize(r.Name) }
	if slices.ContainsFunc(w.lock.Manifest.Overrides, func(d uvDependency) bool { return is(d.Name) }) {
		return nil
	}
	for _, p := range w.lock.Packages {
		if !is(p.Name) || p.Source.Registry == "" || !w.chosen[p.id()] {
			continue
		}
		version, err := requirement.ParseVersion(p.Version)
		if err != nil {
			return fmt.Errorf("package %s: %w", p.Name, err)
		}
		if !r.Specifiers.Contain(version) {
			return fmt.Errorf("it is out of date: pyproject.toml requires %s%s, and it has %s: run uv lock", r.Name, r.Specifiers, p.Version)
		}
	}
	return nil
}

// project returns the package of a project, or of the only one.
func (f uvLock) project(name string) (uvPackage, error) {
	var projects []string
	for _, p := range f.Packages {
		if p.Source.isCode() && (name == "" || requirement.Normalize(name) == requirement.Normalize(p.Name)) {
			projects = append(projects, p.Name)
		}
	}
	if len(projects) == 0 && name == "" && len(f.Manifest.Groups) > 0 {
		return uvPackage{Dev: f.Manifest.Groups}, nil
	}
	if len(projects) == 0 {
		return uvPackage{}, fmt.Errorf("it does not have the project %s: run uv lock", name)
	}
	if len(projects) > 1 {
		return uvPackage{}, fmt.Errorf("it has several projects, %s: name one with --requirements DIRECTORY/pyproject.toml", strings.Join(projects, ", "))
	}
	i := slices.IndexFunc(f.Packages, func(p uvPackage) bool { return p.Name == projects[0] && p.Source.isCode() })
	return f.Packages[i], nil
}

// uvWalk follows dependencies from the project on.
type uvWalk struct {
	lock    uvLock
	options LockOptions
	env     requirement.Environment
	visited map[string]bool // packages with their extras
	chosen  map[string]bool // packages
	found   Lock
}

func (w *uvWalk) visit(p uvPackage, extras []string) error {
	id := p.id()
	if !w.chosen[id] {
		w.chosen[id] = true
		if err := w.add(p); err != nil {
			return err
		}
		if err := w.follow(p, p.Dependencies); err != nil {
			return err
		}
	}
	for _, extra := range extras {
		with := id + " " + requirement.Normalize(extra)
		if w.visited[with] {
			continue
		}
		w.visited[with] = true
		dependencies, _ := byName(p.Optional, extra)
		if err := w.follow(p, dependencies); err != nil {
			return err
		}
	}
	return nil
}

func (w *uvWalk) follow(p uvPackage, all []uvDependency) error {
	for _, d := range all {
		wanted, err := w.options.holds(d.Marker, w.env)
		if err != nil {
			return fmt.Errorf("package %s: %w", p.Name, err)
		}
		if !wanted {
			continue
		}
		next, err := w.resolve(p, d)
		if err != nil {
			return err
		}
		if err := w.visit(next, append(slices.Clip(d.Extra), d.Extras...)); err != nil {
			return err
		}
	}
	return nil
}

// resolve returns the package that a dependency names. Of several versions the markers choose.
func (w *uvWalk) resolve(of uvPackage, d uvDependency) (uvPackage, error) {
	var fitting []uvPackage
	for _, p := range w.lock.Packages {
		if p.Name != d.Name || d.Version != "" && d.Version != p.Version || d.Source != (uvSource{}) && d.Source != p.Source {
			continue
		}
		ok := len(p.Markers) == 0
		for _, marker := range p.Markers {
			holds, err := w.options.holds(marker, w.env)
			if err != nil {
				return uvPackage{}, fmt.Errorf("package %s: %w", p.Name, err)
			}
			ok = ok || holds
		}
		if ok {
			fitting = append(fitting, p)
		}
	}
	if len(fitting) != 1 {
		return uvPackage{}, fmt.Errorf("package %s needs %s, which is there %d times for %s: run uv lock", of.Name, strings.TrimSpace(d.Name+" "+d.Version), len(fitting), w.options.Target)
	}
	return fitting[0], nil
}

// add adds a package to what was found.
func (w *uvWalk) add(p uvPackage) error {
	if p.Name == "" { // what a manifest has
		return nil
	}
	if p.Source.isCode() {
		w.found.Local = append(w.found.Local, p.Name)
		return nil
	}
	chosen := Package{Name: requirement.Normalize(p.Name), Version: p.Version}
	files := p.Source.located(p.Wheels)
	switch {
	case p.Source.Git != "":
		var err error
		if chosen.Source, err = gitSource(p.Source.Git); err != nil {
			return fmt.Errorf("package %s: %w", p.Name, err)
		}
	case p.Source.URL != "" && len(files) == 0:
		from := file{URL: p.Source.URL, Subdirectory: p.Source.Subdirectory}
		if p.Sdist != nil { // it has the hash alone
			from.Hash = p.Sdist.Hash
		}
		chosen.source(from)
	case p.Sdist != nil:
		chosen.source(p.Source.located([]file{*p.Sdist})[0])
	}
	if err := chosen.choose(files, w.options); err != nil {
		return err
	}
	w.found.Packages = append(w.found.Packages, chosen)
	return nil
}

// gitSource returns uv's URL of a Git repository, whose fragment is the commit, as pip knows it.
func gitSource(address string) (string, error) {
	address, commit, _ := strings.Cut(address, "#")
	address, query, _ := strings.Cut(address, "?")
	source := "git+" + address + "@" + commit
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return "", fmt.Errorf("reading the URL %s: %w", Hidden(address), err)
	}
	if parameters.Get("subdirectory") != "" {
		source += "#subdirectory=" + parameters.Get("subdirectory")
	}
	return source, nil
}
