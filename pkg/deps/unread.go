package deps

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/tomlfile"
)

// locks are files whose versions count for other tools, and what to type instead.
var locks = []unread{
	{"poetry.lock", "", "for its versions, type poetry export -f requirements.txt -o requirements.txt"},
	{"pdm.lock", "", "for its versions, type pdm export -f requirements -o requirements.txt"},
	{"uv.lock", "", "for its versions, add --requirements uv.lock"},
}

// manifests are files that say what a project needs for other tools.
var manifests = []unread{
	{"requirements.in", "", "add --requirements FILE"},
	{"requirements/*.txt", "", "add --requirements FILE"},
	{"requirements?*.txt", "", "add --requirements FILE"},
	{"setup.py", "install_requires", "type uv pip compile FILE -o requirements.txt"},
	{"setup.cfg", "install_requires", "type uv pip compile FILE -o requirements.txt"},
	{"Pipfile*", "", "type pipenv requirements > requirements.txt"},
	{"environment.y*ml", "", "list its packages in requirements.txt, with their names on PyPI"},
	{"pixi.toml", "", "list its packages in requirements.txt, with their names on PyPI"},
	{"pyproject.toml", "[tool.pixi", "list its packages in requirements.txt, with their names on PyPI"},
}

// unread is a file that is not read.
type unread struct {
	pattern string
	with    string // what it contains if it says what is needed
	instead string // FILE is the file
}

// in returns the first such file of a directory, "" for none.
func (u unread) in(dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, u.pattern))
	for _, path := range found {
		if u.with == "" && isFile(path) {
			return path
		}
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(u.with)) {
			return path
		}
	}
	return ""
}

// warnOverlooked warns of files from the code's directory up to the one of the source, or to the top of the
// project, that say what is needed and are not read: of locks beside the source, and, if the source requires nothing, of all.
func (r *reader) warnOverlooked() {
	warn := func(dir string, all []unread) (found bool) {
		for _, u := range all {
			path := u.in(dir)
			if path == "" || filepath.Base(path) == filepath.Base(r.wanted.Source) {
				continue
			}
			found = true
			r.warnUnread(path, u.instead)
		}
		return found
	}
	isLoose := func(l Line) bool { return l.Name() != "" && !strings.Contains(l.Text, "==") } // not exported from a lock
	if !r.wanted.Kind.IsLock() && r.wanted.Kind != None && slices.ContainsFunc(r.wanted.Requirements, isLoose) {
		warn(r.wanted.Dir, locks)
	}
	if r.wanted.Kind == Requirements || r.wanted.Kind.IsLock() || len(r.wanted.Requirements)+len(r.wanted.Dropped)+len(r.wanted.Local) > 0 {
		return
	}
	for dir := filepath.Clean(r.EntryDir); ; dir = filepath.Dir(dir) {
		r.wanted.Unread = warn(dir, manifests) || r.wanted.Unread
		if dir == r.wanted.Dir || isTop(dir, r.Home) {
			return
		}
	}
}

// warnUnread warns of a file that is not read.
func (r *reader) warnUnread(path, instead string) {
	text := r.name(path) + " is not read: " + strings.ReplaceAll(instead, "FILE", r.name(path))
	if !slices.Contains(r.wanted.Warnings, text) {
		r.wanted.Warnings = append(r.wanted.Warnings, text)
	}
}

// warnBuilt warns of local projects whose packages only setup.py or setup.cfg lists, unless all requirements have
// hashes: then what exported them has read these files.
func (r *reader) warnBuilt() {
	hashed := !slices.ContainsFunc(r.wanted.Requirements, func(l Line) bool { return len(l.Hashes) == 0 })
	if hashed && len(r.wanted.Requirements) > 0 {
		return
	}
	for _, dir := range r.unlisted {
		for _, name := range []string{"setup.py", "setup.cfg"} {
			if path := (unread{pattern: name, with: "install_requires"}).in(dir); path != "" {
				r.wanted.Unread = true
				r.warnUnread(path, "list what it requires in "+r.wanted.Source)
			}
		}
	}
}

// declares reports whether a pyproject.toml can say what a project needs. Many only have settings of tools. One
// that can't be read does, so that the error is reported.
func declares(path string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return true
	}
	var file map[string]any
	if err := tomlfile.Decode(text, path, &file); err != nil {
		return true
	}
	tools, _ := file["tool"].(map[string]any)
	has := func(table map[string]any, names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return table[name] != nil })
	}
	return has(file, "project", "dependency-groups") || has(tools, "poetry", "uv", "pdm")
}
