package deps

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// What to do with files that pip can read, with those that name packages as PyPI does, or as conda does. Beside [project],
// its file stands in for requirements.txt.
const (
	nameFile    = "add --requirements FILE"
	relist      = "list its packages in requirements.txt"
	relistConda = "list its packages in requirements.txt, with their names on PyPI"
)

// manifests are files that say what a project needs for other tools.
func manifests() []unread {
	return []unread{
		{patterns: "requirements requirements.in requirements.pip requirements/*.in", instead: nameFile},
		{patterns: "requirements/*.txt", instead: nameFile, more: relist},
		{patterns: "requirements?*.txt ?*requirements*.txt Requirements*.txt requirement.txt reqs.txt requirements.lock", instead: nameFile},
		{patterns: "setup.py setup.cfg", says: contains("install_requires"), instead: "run uv pip compile FILE -o requirements.txt"},
		{patterns: "Pipfile*", instead: "run pipenv requirements > requirements.txt"},
		{patterns: "environment.y*ml", instead: relistConda, more: relistConda},
		{patterns: "conda.y*ml env.y*ml environment?*.y*ml", says: contains("dependencies:"), instead: relistConda, more: relistConda}, // the first of MLflow
		{patterns: "*conda-lock.y*ml pixi.toml", instead: relistConda, more: relistConda},
		{patterns: "pyproject.toml", table: "[tool.pixi]", says: contains("[tool.pixi"), instead: relistConda, more: relistConda},
	}
}

// unread are files that are not read, or a table of one.
type unread struct {
	patterns string // of their names; each is for one file
	// says reports whether a file says what is needed; nil means always.
	says    func(text []byte) bool
	table   string // the table that says so, "" if the whole file does
	instead string // FILE is the file
	more    string // the same beside [project], "" for what does not say more
}

func contains(text string) func(file []byte) bool {
	return func(file []byte) bool { return bytes.Contains(file, []byte(text)) }
}

// namesIn returns the names of a directory and of its folder requirements, as patterns of unread have them, in order.
func namesIn(dir string) []string {
	names := namesOf(dir)
	for _, name := range namesOf(filepath.Join(dir, "requirements")) {
		names = append(names, "requirements/"+name)
	}
	return names
}

// namesOf returns the names of a directory in order, none if it can't be read.
func namesOf(dir string) []string {
	entries, _ := os.ReadDir(dir)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// in returns the files of a directory, for each pattern the first one that isIt accepts. names are namesIn the directory.
func (u unread) in(dir string, names []string, isIt func(path string) bool) (found []string) {
	for pattern := range strings.FieldsSeq(u.patterns) {
		for _, name := range names {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if matches, _ := path.Match(pattern, name); matches && isIt(file) && u.saysIn(file) {
				found = append(found, file)
				break
			}
		}
	}
	return found
}

func (u unread) saysIn(file string) bool {
	if u.says == nil {
		return true
	}
	text, err := os.ReadFile(file)
	return err == nil && u.says(text)
}

// isForDevelopment reports whether a group or a file of requirements has what only developers need, by its name or the
// last word of that.
func isForDevelopment(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return strings.ContainsRune("-_.", c) })
	return len(words) > 0 && slices.Contains([]string{
		"build", "check", "ci", "dev", "develop", "development", "doc", "docs", "lint", "style", "test", "testing", "tests", "types", "typing",
	}, words[len(words)-1])
}

// warnOverlooked warns of files from the code's directory up to the one of the source, or to the top of the
// project, that say what is needed and are not read: of locks beside the source, of some beside [project], and, if the
// source requires nothing, of all; and of a pyproject.toml that lists more than the requirements.txt beside it. A
// pyproject.toml that requires nothing may only have settings, so files above it are named, too.
func (r *reader) warnOverlooked() {
	w := &r.wanted
	if !r.warnLocks() {
		r.warnProject()
	}
	all, isIt, because, goesOn := manifests(), platform.IsFile, "", false
	switch {
	case w.Kind.IsLock():
		return
	case len(w.Requirements)+len(w.Dropped)+len(w.Local)+len(w.Unfetched) == 0:
		goesOn = w.Kind == Project
		if w.Kind == None {
			all = append(all, // locks without the file that they are of
				unread{patterns: "pylock.?*.toml", instead: nameFile},
				unread{patterns: "poetry.lock", instead: "run poetry export -f requirements.txt -o requirements.txt"},
				unread{patterns: "pdm.lock", instead: "run pdm export -f requirements -o requirements.txt"})
		}
	case w.Kind == Project:
		all = nil
		for _, u := range manifests() {
			if u.more != "" { // a requirements.txt would hide what [project] lists
				u.instead = strings.ReplaceAll(u.more, string(Requirements), w.Source)
				all = append(all, u)
			}
		}
		isIt = func(path string) bool {
			name := filepath.Base(path)
			return platform.IsFile(path) && !isForDevelopment(strings.TrimSuffix(name, filepath.Ext(name)))
		}
	default:
		return
	}
	// hidden are files that a pyproject.toml below them hides although it requires nothing.
	hidden := []unread{
		{patterns: "requirements.txt pylock*.toml uv.lock", instead: nameFile},
		{patterns: "pyproject.toml", says: says, instead: nameFile},
	}
	for dir := filepath.Clean(r.EntryDir); ; dir = filepath.Dir(dir) {
		w.Unread = r.warnAll(dir, all, because, isIt) || w.Unread
		if dir == w.Dir && !goesOn || isTop(dir, r.Home) {
			return
		}
		if dir == w.Dir {
			all, because = slices.Concat(hidden, manifests()), r.because()
		}
	}
}

// warnLocks warns of locks beside the source, unless its requirements have hashes, or are exported from the lock. It
// reports whether there are any.
func (r *reader) warnLocks() bool {
	w := &r.wanted
	lines := slices.Concat(w.Requirements, w.Dropped)
	isOpen := func(l Line) bool { return l.Name() != "" && len(l.Hashes) == 0 }
	if w.Kind == None || w.Kind.IsLock() || !slices.ContainsFunc(lines, isOpen) {
		return false
	}
	// locks are files whose versions count for other tools, and what to type instead.
	locks := []unread{
		{patterns: "poetry.lock", instead: "for its versions, run poetry export -f requirements.txt -o requirements.txt"},
		{patterns: "pdm.lock", instead: "for its versions, type pdm export -f requirements -o requirements.txt"},
		{patterns: "uv.lock pylock*.toml requirements.lock", instead: "for its versions, " + nameFile}, // the last of Rye
	}
	return r.warnAll(w.Dir, locks, r.because(), func(path string) bool {
		if !platform.IsFile(path) {
			return false
		}
		text, err := os.ReadFile(path)
		return err != nil || !isExport(lines, text)
	})
}

// because says why a file is not read beside the source.
func (r *reader) because() string { return ", because " + r.wanted.Source + " is" }

// warnProject warns of a pyproject.toml that lists packages which the requirements.txt beside it does not have.
func (r *reader) warnProject() {
	w := &r.wanted
	path := filepath.Join(w.Dir, string(Project))
	if w.Kind != Requirements || len(w.Unfetched) > 0 || !platform.IsFile(path) || slices.Contains(w.LocalDirs, w.Dir) {
		return
	}
	beside := newReader(r.Options)
	beside.Extras, beside.Groups, beside.wanted.Kind, beside.projectDir = nil, nil, Project, w.Dir
	_ = beside.project(w.Dir, r.name(path), nil, nil) // what it lists before a mistake
	beside.filter()
	listed := map[string]bool{}
	for _, l := range slices.Concat(w.Requirements, w.Dropped) {
		listed[l.Project()] = true
	}
	if listed[""] {
		return // a URL without a name may be any of them
	}
	for _, l := range slices.Concat(beside.wanted.Requirements, beside.wanted.Dropped) {
		_, _, hasMarker := strings.Cut(l.Text, ";") // which may exclude it from what a tool wrote into requirements.txt
		if l.Project() != "" && !listed[l.Project()] && !hasMarker {
			name := r.name(path)
			r.warn(fmt.Sprintf("%s is not read%s, which lacks %s: add --requirements %s to read it instead, or the line -e . to %s to read both", name, r.because(), l.Project(), name, w.Source))
			return
		}
	}
}

// warnAll warns of the files of a directory that isIt accepts, and reports whether there are any. because says why they
// are not read, "" if that is not known.
func (r *reader) warnAll(dir string, all []unread, because string, isIt func(path string) bool) (found bool) {
	names := namesIn(dir)
	for _, u := range all {
		for _, path := range u.in(dir, names, isIt) {
			found = true
			name := r.name(path)
			instead := strings.ReplaceAll(u.instead, "FILE", name)
			if u.table != "" {
				name = u.table + " in " + name
			}
			r.warnUnread(name, because, instead)
		}
	}
	return found
}

// warnUnread warns of something that is not read.
func (r *reader) warnUnread(name, because, instead string) {
	r.warn(name + " is not read" + because + ": " + instead)
}

// warnBuilt warns of local projects whose packages only setup.py or setup.cfg lists, unless all requirements have
// hashes: then what exported them has read these files.
func (r *reader) warnBuilt() {
	hashed := !slices.ContainsFunc(r.wanted.Requirements, func(l Line) bool { return len(l.Hashes) == 0 })
	if hashed && len(r.wanted.Requirements) > 0 {
		return
	}
	built := unread{patterns: "setup.py setup.cfg", says: contains("install_requires")}
	for _, dir := range r.unlisted {
		for _, path := range built.in(dir, strings.Fields(built.patterns), platform.IsFile) {
			r.wanted.Unread = true
			r.warnUnread(r.name(path), "", "list what it requires in "+r.wanted.Source)
		}
	}
}

// declares reports whether a pyproject.toml can say what a project needs. One that can't be read does, so that the error
// is reported.
func declares(path string) bool {
	text, err := os.ReadFile(path)
	return err != nil || says(text)
}

// says reports whether the text of a pyproject.toml can say what a project needs. Many only have settings of tools.
func says(text []byte) bool {
	var file map[string]any
	if err := Decode(text, "", &file); err != nil {
		return true
	}
	tools, _ := file["tool"].(map[string]any)
	uv, _ := tools["uv"].(map[string]any)
	has := func(table map[string]any, names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return table[name] != nil })
	}
	return has(file, "project", "dependency-groups") || has(tools, "poetry", "pdm") || has(uv, "workspace", "dev-dependencies")
}
