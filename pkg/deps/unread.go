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
	{pattern: "poetry.lock", instead: "for its versions, type poetry export -f requirements.txt -o requirements.txt"},
	{pattern: "pdm.lock", instead: "for its versions, type pdm export -f requirements -o requirements.txt"},
	{pattern: "uv.lock", instead: "for its versions, add --requirements uv.lock"},
}

// manifests are files that say what a project needs for other tools.
var manifests = []unread{
	{pattern: "requirements.in", instead: "add --requirements FILE"},
	{pattern: "requirements/*.txt", instead: "add --requirements FILE", more: true},
	{pattern: "requirements?*.txt", instead: "add --requirements FILE"},
	{pattern: "setup.py", with: "install_requires", instead: "type uv pip compile FILE -o requirements.txt"},
	{pattern: "setup.cfg", with: "install_requires", instead: "type uv pip compile FILE -o requirements.txt"},
	{pattern: "Pipfile*", instead: "type pipenv requirements > requirements.txt"},
	{pattern: "environment.y*ml", instead: "list its packages in requirements.txt, with their names on PyPI", more: true},
	{pattern: "pixi.toml", instead: "list its packages in requirements.txt, with their names on PyPI", more: true},
	{pattern: "pyproject.toml", with: "[tool.pixi", instead: "list its packages in requirements.txt, with their names on PyPI"},
}

// unread is a file that is not read, or a table of one.
type unread struct {
	pattern string
	with    string // what it contains if it says what is needed
	instead string // FILE is the file
	more    bool   // it may say what [project] does not
}

// in returns the first such file of a directory that isIt accepts, "" for none.
func (u unread) in(dir string, isIt func(path string) bool) string {
	found, _ := filepath.Glob(filepath.Join(dir, u.pattern))
	for _, path := range found {
		if !isIt(path) {
			continue
		}
		if u.with == "" {
			return path
		}
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(u.with)) {
			return path
		}
	}
	return ""
}

// isForDevelopment reports whether a group, or a file of requirements, has what only developers need, by its name.
func isForDevelopment(name string) bool {
	return slices.Contains([]string{"build", "ci", "dev", "develop", "development", "doc", "docs", "lint", "test", "testing", "tests", "typing"}, strings.ToLower(name))
}

// warnOverlooked warns of files from the code's directory up to the one of the source, or to the top of the
// project, that say what is needed and are not read: of locks beside the source, of some beside [project], and, if the
// source requires nothing, of all.
func (r *reader) warnOverlooked() {
	w := &r.wanted
	isLoose := func(l Line) bool { return l.Name() != "" && !strings.Contains(l.Text, "==") } // not exported from a lock
	if !w.Kind.IsLock() && w.Kind != None && slices.ContainsFunc(w.Requirements, isLoose) {
		r.warnAll(w.Dir, locks, isFile)
	}
	all, isIt := manifests, isFile
	switch {
	case w.Kind.IsLock():
		return
	case len(w.Requirements)+len(w.Dropped)+len(w.Local)+len(w.Unfetched) == 0:
	case w.Kind == Project:
		all = nil
		for _, u := range manifests {
			if u.more { // a requirements.txt would hide what [project] lists
				u.instead = "list its packages in " + w.Source + ", with their names on PyPI"
				all = append(all, u)
			}
		}
		isIt = func(path string) bool {
			return isFile(path) && !isForDevelopment(strings.TrimSuffix(filepath.Base(path), ".txt"))
		}
	default:
		return
	}
	for dir := filepath.Clean(r.EntryDir); ; dir = filepath.Dir(dir) {
		w.Unread = r.warnAll(dir, all, isIt) || w.Unread
		if dir == w.Dir || isTop(dir, r.Home) {
			return
		}
	}
}

// warnAll warns of the files of a directory that isIt accepts, and reports whether there are any.
func (r *reader) warnAll(dir string, all []unread, isIt func(path string) bool) (found bool) {
	for _, u := range all {
		if path := u.in(dir, isIt); path != "" {
			found = true
			name := r.name(path)
			if strings.HasPrefix(u.with, "[") {
				name = u.with + "] in " + name
			}
			r.warnUnread(name, strings.ReplaceAll(u.instead, "FILE", name))
		}
	}
	return found
}

// warnUnread warns of something that is not read.
func (r *reader) warnUnread(name, instead string) {
	r.warn(name + " is not read: " + instead)
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
			if path := (unread{pattern: name, with: "install_requires"}).in(dir, isFile); path != "" {
				r.wanted.Unread = true
				r.warnUnread(r.name(path), "list what it requires in "+r.wanted.Source)
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
