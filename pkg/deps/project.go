package deps

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/nearest"
	"github.com/kubectl-kinetic/kinetic/pkg/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/tomlfile"
)

// projectFile is what is read of a pyproject.toml.
type projectFile struct {
	Project struct {
		Name           string
		Dependencies   []string
		Optional       map[string][]string `toml:"optional-dependencies"`
		Dynamic        []string
		RequiresPython string `toml:"requires-python"`
	}
	Groups map[string][]any `toml:"dependency-groups"`
	Tool   struct {
		UV     uvTable
		Poetry struct {
			Name         string
			Dependencies map[string]any
		}
	}
}

// uvTable is what is read of the settings of uv.
type uvTable struct {
	Index []struct {
		Name, URL, Format string
		Default, Explicit bool
	}
	IndexURL      string   `toml:"index-url"`
	ExtraIndexURL []string `toml:"extra-index-url"`
	FindLinks     []string `toml:"find-links"`
	Constraints   []string `toml:"constraint-dependencies"`
	Overrides     []string `toml:"override-dependencies"`
	Sources       map[string]any
	Workspace     *workspaceTable
}

// project reads the pyproject.toml in a directory, with some of its extras and groups.
func (r *reader) project(dir, name string, extras, groups []string) error {
	visit := fmt.Sprint(dir, extras)
	if slices.Contains(r.projects, visit) {
		return nil
	}
	r.projects = append(r.projects, visit)
	text, err := readText(filepath.Join(dir, filepath.Base(name)), name)
	if err != nil {
		return err
	}
	var p projectFile
	if err := tomlfile.Decode(text, name, &p); err != nil {
		return err
	}
	if r.wanted.RequiresPython == "" {
		r.wanted.RequiresPython = p.Project.RequiresPython
	}
	if r.wanted.ProjectName == "" && len(r.projects) == 1 {
		r.wanted.ProjectName = p.Project.Name
		r.wanted.LocalDirs = append(r.wanted.LocalDirs, dir)
	}
	r.isProject(cmp.Or(p.Project.Name, p.Tool.Poetry.Name), dir)
	root := workspace{dir: dir, uv: p.Tool.UV}
	if w, found, err := r.workspaceOf(dir); err != nil {
		return err
	} else if found {
		root = w
	}
	t := table{reader: r, file: p, name: name, dir: dir, text: text}
	if r.wanted.Kind != UVLock { // which says where packages come from
		t.origins = r.origins(p, dir, root)
	}
	if err := t.add(p.Project.Dependencies); err != nil {
		return err
	}
	for _, extra := range extras {
		if err := t.extra(extra); err != nil {
			return err
		}
	}
	for _, group := range groups {
		if err := t.group(group, nil); err != nil {
			return err
		}
	}
	r.settings(root.uv, root.dir)
	if err := r.limits(root.uv, r.name(filepath.Join(root.dir, string(Project)))); err != nil {
		return err
	}
	r.warnUnread(p, name)
	return nil
}

// table adds the requirements of one pyproject.toml.
type table struct {
	*reader
	file      projectFile
	name, dir string
	text      []byte
	origins   []origins
	extras    []string // those that were added
}

// add adds requirements. Those for an extra of the project itself stand for that extra.
func (t *table) add(all []string) error {
	for _, text := range all {
		l := Line{Text: text, File: t.name, Number: t.lineOf(text)}
		if before, kept := strings.CutSuffix(text, keep); kept {
			l.Text, l.kept = strings.TrimSpace(before), true
		}
		wanted, err := requirement.Parse(l.Text)
		if err == nil && t.isSelf(wanted) {
			for _, extra := range wanted.Extras {
				if err := t.extra(extra); err != nil {
					return err
				}
			}
			continue
		}
		if err == nil && wanted.URL == "" {
			l = t.place(l, wanted)
		}
		if slices.ContainsFunc(t.wanted.Requirements, func(o Line) bool { return o.Place() == l.Place() && o.Text == l.Text }) {
			continue // the project is named twice
		}
		if err := t.reader.add(l, t.dir, false); err != nil {
			return wrong(l.Place(), err)
		}
	}
	return nil
}

func (t *table) isSelf(r requirement.Requirement) bool {
	return t.file.Project.Name != "" && requirement.Normalize(r.Name) == requirement.Normalize(t.file.Project.Name)
}

// lineOf returns the number of the first line that has a requirement in quotes, 0 if there is none.
func (t *table) lineOf(text string) int {
	at := slices.Max([]int{bytes.Index(t.text, []byte(`"`+text+`"`)), bytes.Index(t.text, []byte(`'`+text+`'`))})
	if at < 0 {
		return 0
	}
	return 1 + bytes.Count(t.text[:at], []byte("\n"))
}

// extra adds the requirements of an extra.
func (t *table) extra(extra string) error {
	if slices.Contains(t.extras, requirement.Normalize(extra)) {
		return nil
	}
	t.extras = append(t.extras, requirement.Normalize(extra))
	for _, known := range slices.Sorted(maps.Keys(t.file.Project.Optional)) {
		if requirement.Normalize(known) == requirement.Normalize(extra) {
			return t.add(t.file.Project.Optional[known])
		}
	}
	return unknown(t.name, "extra", extra, slices.Sorted(maps.Keys(t.file.Project.Optional)))
}

// unknown returns the error about an extra or a group that a file does not have.
func unknown(file, kind, name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("%s has no %s %q: it has none at all", file, kind, name)
	}
	if hint := nearest.Sentence(name, known); hint != "" {
		return fmt.Errorf("%s has no %s %q: %s", file, kind, name, hint)
	}
	return fmt.Errorf("%s has no %s %q: it has %s", file, kind, name, strings.Join(known, ", "))
}

// group adds the requirements of a dependency group (PEP 735). outer are the groups that
// include it.
func (t *table) group(group string, outer []string) error {
	normal := requirement.Normalize(group)
	if slices.Contains(outer, normal) {
		return fmt.Errorf("%s: the group %q includes itself", t.name, group)
	}
	for _, known := range slices.Sorted(maps.Keys(t.file.Groups)) {
		if requirement.Normalize(known) != normal {
			continue
		}
		for _, entry := range t.file.Groups[known] {
			if err := t.groupEntry(known, entry, append(outer, normal)); err != nil {
				return err
			}
		}
		return nil
	}
	return unknown(t.name, "group", group, slices.Sorted(maps.Keys(t.file.Groups)))
}

func (t *table) groupEntry(group string, entry any, outer []string) error {
	switch entry := entry.(type) {
	case string:
		return t.add([]string{entry})
	case map[string]any:
		if other, ok := entry["include-group"].(string); ok && len(entry) == 1 {
			return t.group(other, outer)
		}
	}
	return fmt.Errorf(`%s: the group %q has %v: an entry is a requirement or {include-group = "NAME"}`, t.name, group, entry)
}

// settings adds the indexes of uv.
func (r *reader) settings(uv uvTable, dir string) {
	add := func(option, value string) {
		if option += " " + value; !slices.Contains(r.wanted.Options, option) { // as several members of a workspace have it
			r.wanted.Options = append(r.wanted.Options, option)
		}
	}
	index := func(url string, isDefault bool) {
		if isDefault {
			add("--index-url", url)
		} else {
			add("--extra-index-url", url)
		}
	}
	links := func(value string) {
		if !isURL(value) && !filepath.IsAbs(value) {
			value = filepath.Join(dir, value)
		}
		add("--find-links", value)
	}
	for _, i := range uv.Index {
		if i.URL == "" || i.Explicit && r.wanted.Kind != UVLock { // which alone says what is from it
			continue
		}
		if i.Format == "flat" {
			links(i.URL)
		} else {
			index(i.URL, i.Default)
		}
		if i.Name != "" {
			if r.wanted.IndexNames == nil {
				r.wanted.IndexNames = map[string]string{}
			}
			r.wanted.IndexNames[i.URL] = i.Name
		}
	}
	if uv.IndexURL != "" {
		index(uv.IndexURL, true)
	}
	for _, url := range uv.ExtraIndexURL {
		index(url, false)
	}
	for _, value := range uv.FindLinks {
		links(value)
	}
}

// limits adds the constraints of uv. A lock has them already.
func (r *reader) limits(uv uvTable, name string) error {
	if r.wanted.Kind == UVLock {
		return nil
	}
	for _, text := range uv.Constraints {
		if err := r.addNamed(Line{Text: text, File: name}, true); err != nil {
			return wrong(name, err)
		}
	}
	if len(uv.Overrides) > 0 {
		r.wanted.Warnings = append(r.wanted.Warnings, name+": override-dependencies only counts with a lock: run uv lock")
	}
	return nil
}

// warnUnread warns if a project says what it needs in a way that is not read.
func (r *reader) warnUnread(p projectFile, name string) {
	if len(p.Project.Dependencies) > 0 {
		return
	}
	what := ""
	switch {
	case slices.Contains(p.Project.Dynamic, "dependencies"):
		what = "its dependencies are dynamic"
	case len(p.Tool.Poetry.Dependencies) > 0:
		what = "its dependencies are Poetry's"
		for _, dependency := range slices.Sorted(maps.Keys(p.Tool.Poetry.Dependencies)) {
			r.wanted.Unread = append(r.wanted.Unread, Line{Text: dependency, File: name})
		}
	default:
		return
	}
	r.wanted.Warnings = append(r.wanted.Warnings, fmt.Sprintf("%s: %s, which are not read: list them in [project].dependencies or requirements.txt", name, what))
}
