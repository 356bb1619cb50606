package deps

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// Options say where to look, and what is wanted. All paths but File are absolute.
type Options struct {
	// Root is the package root.
	Root string
	// EntryDir is the directory of the code, where the search begins.
	EntryDir string
	Home     string
	Cwd      string
	// File is the file that the user named, relative to Cwd, "" to search.
	File string
	// Script is the script that is run, "" for none.
	Script string
	// Extras and Groups are the optional dependencies that are wanted.
	Extras, Groups []string
	// Texts are the files of requirements that URLs name, as far as they were fetched.
	Texts map[string][]byte
}

// names are the files that are looked for, the first found in a directory wins. uv.lock counts
// only next to a pyproject.toml.
var names = []struct {
	name string
	kind Kind
}{{"requirements.txt", Requirements}, {"pylock.toml", PyLock}, {"pyproject.toml", Project}}

// Find reads what the project needs. Without a file that the user named, the metadata of the
// script counts, then the nearest file at or above EntryDir, up to the root of the repository
// or the home directory. All its errors are mistakes in the input; what was read before one is
// returned, too.
func Find(o Options) (Wanted, error) {
	r := newReader(o)
	if o.File != "" {
		path := under(o.Cwd, o.File)
		kind, err := kindOf(path)
		if err != nil {
			return Wanted{}, err
		}
		if !platform.IsFile(path) {
			return Wanted{}, fmt.Errorf("--requirements %s: there is no file of that name", o.File)
		}
		return r.read(path, kind, filepath.ToSlash(o.File))
	}
	if o.Script != "" {
		found, err := r.read(o.Script, Script, r.name(o.Script))
		if err != nil || found.Kind != None {
			return found, err
		}
	}
	path, kind := search(o.EntryDir, o.Home)
	if kind == None {
		r.wanted = Wanted{Warnings: r.wanted.Warnings}
		r.warnOverlooked()
		return r.wanted, r.unused("the project has no file that says what it needs")
	}
	_, err := r.read(path, kind, r.name(path))
	if err == nil {
		r.warnOverlooked()
	}
	return r.wanted, err
}

func kindOf(path string) (Kind, error) {
	name := filepath.Base(path)
	switch {
	case name == string(UVLock):
		return UVLock, nil
	case name == "pylock.toml", strings.HasPrefix(name, "pylock.") && strings.HasSuffix(name, ".toml"):
		return PyLock, nil
	case filepath.Ext(name) == ".toml":
		return Project, nil
	case filepath.Ext(name) == ".py":
		return Script, nil
	case strings.HasPrefix(name, "requirements") && filepath.Ext(name) == ".lock": // of Rye
		return Requirements, nil
	case filepath.Ext(name) == ".lock":
		return None, fmt.Errorf("--requirements %s: only lock files of uv (uv.lock) and pylock.toml can be read: export it to one of these, or to requirements.txt", path)
	}
	return Requirements, nil
}

func search(dir, home string) (string, Kind) {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		for _, n := range names {
			path := filepath.Join(dir, n.name)
			if !platform.IsFile(path) {
				continue
			}
			if lock := filepath.Join(dir, string(UVLock)); n.kind == Project && platform.IsFile(lock) {
				return lock, UVLock
			}
			if n.kind != Project || declares(path) {
				return path, n.kind
			}
		}
		if isTop(dir, home) {
			return "", None
		}
	}
}

// isTop reports whether nothing above a directory belongs to the project.
func isTop(dir, home string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil || dir == home || dir == filepath.Dir(dir)
}

type reader struct {
	Options
	trees    []string // what may be read
	wanted   Wanted
	files    []string          // that were read, and whether for constraints
	projects []string          // directories, with extras, whose requirements are in wanted
	local    map[string]string // the directories of local projects, by their normalized names
	unlisted []string          // directories of local projects without a file that lists what they need

	elsewhere []origin
	exposed   []string // the files whose options have credentials
	limited   []string // the files whose constraints of uv are in wanted

	projectDir string // of the project that is wanted, which may be a member of the workspace of its lock
}

func newReader(o Options) *reader {
	return &reader{Options: o, trees: []string{filepath.Clean(o.Root)}, local: map[string]string{}}
}

// read reads the first file. name is its path as users know it.
func (r *reader) read(path string, kind Kind, name string) (Wanted, error) {
	r.projectDir = filepath.Dir(path)
	r.trees = append(r.trees, r.projectDir) // which may be above the package root
	if kind == Project {
		lock, err := r.workspaceLock(path)
		if err != nil {
			return Wanted{}, err
		}
		if lock != "" {
			path, kind, name = lock, UVLock, r.name(lock)
		}
	}
	r.wanted = Wanted{Kind: kind, Source: name, Dir: filepath.Dir(path), Extras: r.Extras, Groups: r.Groups, Warnings: r.wanted.Warnings}
	var err error
	switch kind {
	case Requirements:
		if err = r.unused(name + " has none: only pyproject.toml and lock files do"); err == nil {
			err = r.file(path, name, false)
		}
	case Project:
		err = r.project(filepath.Dir(path), name, r.Extras, r.Groups)
	case Script:
		err = r.script(path)
	case UVLock, PyLock:
		err = r.lock(path, kind)
	}
	if !kind.IsLock() { // which is complete as it is
		if err == nil {
			err = r.leaveOutLocal()
		}
		if kind != Project {
			r.warnSettings()
		}
		r.warnBuilt()
		r.filter()
		if err == nil {
			err = r.checkOrigins()
		}
	}
	r.warnExposed()
	return r.wanted, err
}

// unused returns an error if extras or groups are wanted that can't be.
func (r *reader) unused(why string) error {
	for _, f := range []struct {
		flag   string
		values []string
	}{{"--extra", r.Extras}, {"--group", r.Groups}} {
		if len(f.values) > 0 {
			return fmt.Errorf("%s %s: %s", f.flag, f.values[0], why)
		}
	}
	return nil
}

// name returns a path as users know it: relative to the package root, or else to the working
// directory, if it is below one of them.
func (r *reader) name(path string) string {
	for _, base := range []string{r.Root, r.Cwd} {
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return path
}

// under returns a path that is relative to a directory, unless it is absolute.
func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// contains reports whether a path may be read. Links are followed.
func (r *reader) contains(path string) bool {
	return slices.ContainsFunc(r.trees, func(tree string) bool { return Contains(tree, path) })
}

// Contains reports whether a path is in a directory, also when links are followed.
func Contains(dir, path string) bool {
	return isBelow(path, dir) && isBelow(resolved(path), resolved(dir))
}

func isBelow(path, tree string) bool {
	rel, err := filepath.Rel(tree, path)
	return err == nil && filepath.IsLocal(rel)
}

// resolved follows links, as far as there is something.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolved(parent), filepath.Base(path))
	}
	return path
}

// maxText is the size of the largest file that is read. The lock files of large projects have
// a few MiB.
const maxText = 64 << 20

func readText(path, name string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: no such file", name)
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", name)
	case info.Size() > maxText:
		return nil, fmt.Errorf("%s is %d MiB, over the limit of %d MiB for requirements", name, info.Size()>>20, maxText>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return text, nil
}
