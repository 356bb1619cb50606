package deps

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

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
		Poetry poetryTable
		PDM    pdmTable
	}
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
	if err := Decode(text, name, &p); err != nil {
		return err
	}
	if r.wanted.RequiresPython == "" {
		r.wanted.RequiresPython = cmp.Or(p.Project.RequiresPython, p.Tool.Poetry.requiresPython())
	}
	if r.wanted.ProjectName == "" && len(r.projects) == 1 {
		r.wanted.ProjectName = p.name()
		r.wanted.LocalDirs = append(r.wanted.LocalDirs, dir)
	}
	r.isProject(p.name(), dir)
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
	if p.poetry() {
		if err := t.addPoetry(p.Tool.Poetry.Dependencies, mainOnly); err != nil {
			return err
		}
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
	t.warnGroups()
	if err := r.uvOf(root); err != nil {
		return err
	}
	if err := r.sourcesOf(p, dir, name); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.warnDynamic(p, name)
	return nil
}

// name returns the project's name, "" if it has none.
func (p projectFile) name() string { return cmp.Or(p.Project.Name, p.Tool.Poetry.Name) }

// table adds the requirements of one pyproject.toml.
type table struct {
	*reader
	file      projectFile
	name, dir string
	text      []byte
	origins   []origins
	extras    []string // those that were added
	groups    []string // those that were added
}

func (t *table) add(all []string) error {
	for _, text := range all {
		if err := t.addLine(Line{Text: text, File: t.name, Number: t.lineOf(text)}); err != nil {
			return err
		}
	}
	return nil
}

// addLine adds a requirement. One for an extra of the project itself stands for that extra.
func (t *table) addLine(l Line) error {
	if before, kept := strings.CutSuffix(l.Text, keep); kept {
		l.Text, l.kept = strings.TrimSpace(before), true
	}
	l.Text = fromRoot(l.Text)
	wanted, err := requirement.Parse(l.Text)
	if err == nil && t.isSelf(wanted) {
		for _, extra := range wanted.Extras {
			if err := t.extra(extra); err != nil {
				return err
			}
		}
		return nil
	}
	if err == nil && wanted.URL == "" {
		l = t.place(l, wanted)
	}
	if slices.ContainsFunc(t.wanted.Requirements, func(o Line) bool { return o.Place() == l.Place() && o.Text == l.Text }) {
		return nil // the project is named twice
	}
	if err := t.reader.add(l, t.dir, false); err != nil {
		return wrong(l.Place(), err)
	}
	return nil
}

// rootOfHatch and rootOfPDM are how these tools write the directory of the project.
const (
	rootOfHatch = `\{root((?::parent)*):uri\}/?`
	rootOfPDM   = "file:///${PROJECT_ROOT}/"
)

// fromRoot returns a requirement with a path that is relative to the directory of the project, if a tool's form names it.
func fromRoot(text string) string {
	if at := lazyregexp.Of(rootOfHatch).FindStringSubmatchIndex(text); at != nil {
		text = text[:at[0]] + "./" + strings.Repeat("../", strings.Count(text[at[2]:at[3]], ":parent")) + text[at[1]:]
	}
	if before, path, found := strings.Cut(text, rootOfPDM); found {
		text = strings.TrimPrefix(before, "-e ") + "file:./" + path
	}
	return text
}

func (t *table) isSelf(r requirement.Requirement) bool {
	name := t.file.name()
	return name != "" && requirement.Normalize(r.Name) == requirement.Normalize(name)
}

// lineOf returns the number of the first line that has a requirement in quotes, 0 if there is none.
func (t *table) lineOf(text string) int {
	at := slices.Max([]int{bytes.Index(t.text, []byte(`"`+text+`"`)), bytes.Index(t.text, []byte(`'`+text+`'`))})
	if at < 0 {
		return 0
	}
	return 1 + bytes.Count(t.text[:at], []byte("\n"))
}

func (t *table) extra(extra string) error {
	if slices.Contains(t.extras, requirement.Normalize(extra)) {
		return nil
	}
	t.extras = append(t.extras, requirement.Normalize(extra))
	if lines, found := byName(t.file.Project.Optional, extra); found {
		return t.add(lines)
	}
	known := slices.Collect(maps.Keys(t.file.Project.Optional))
	if t.file.poetry() {
		if of, found := byName(t.file.Tool.Poetry.Extras, extra); found {
			return t.addPoetry(t.file.Tool.Poetry.Dependencies, named(of))
		}
		known = slices.AppendSeq(known, maps.Keys(t.file.Tool.Poetry.Extras))
	}
	slices.Sort(known)
	return unknown(t.name, "extra", extra, known)
}

// byName returns the value whose key is another spelling of a name, and whether there is one.
func byName[V any](of map[string]V, name string) (value V, found bool) {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		if requirement.Normalize(key) == requirement.Normalize(name) {
			return of[key], true
		}
	}
	return value, false
}

// unknown returns the error about an extra or a group that a file does not have.
func unknown(file, kind, name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("%s has no %s %q: it has none at all", file, kind, name)
	}
	if hint := human.DidYouMean(name, known); hint != "" {
		return fmt.Errorf("%s has no %s %q: %s", file, kind, name, hint)
	}
	return fmt.Errorf("%s has no %s %q: it has %s", file, kind, name, strings.Join(known, ", "))
}

// group adds the requirements of a dependency group (PEP 735), or of what tools called so before. outer are the
// groups that include it.
func (t *table) group(group string, outer []string) error {
	normal := requirement.Normalize(group)
	if slices.Contains(outer, normal) {
		return fmt.Errorf("%s: the group %q includes itself", t.name, group)
	}
	found := false
	var known []string
	for _, g := range t.allGroups() {
		known = append(known, g.name)
		if requirement.Normalize(g.name) != normal {
			continue
		}
		found = true
		t.groups = append(t.groups, normal)
		if err := g.add(append(outer, normal)); err != nil {
			return err
		}
	}
	if found {
		return nil
	}
	slices.Sort(known)
	return unknown(t.name, "group", group, slices.Compact(known))
}

// dependencyGroup is a group of requirements. add adds them.
type dependencyGroup struct {
	name string
	add  func(outer []string) error
}

// allGroups returns the groups of the project. Several tables may have the same.
func (t *table) allGroups() (all []dependencyGroup) {
	also := func(name string, add func(outer []string) error) { all = append(all, dependencyGroup{name, add}) }
	for name, entries := range t.file.Groups {
		also(name, func(outer []string) error {
			for _, entry := range entries {
				if err := t.groupEntry(name, entry, outer); err != nil {
					return err
				}
			}
			return nil
		})
	}
	tools := t.file.Tool
	for name, lines := range tools.PDM.DevDependencies {
		also(name, func([]string) error { return t.add(lines) })
	}
	for name, of := range tools.Poetry.Groups {
		also(name, func(outer []string) error {
			for _, other := range of.Included {
				if err := t.group(other, outer); err != nil {
					return err
				}
			}
			return t.addPoetryGroup("[tool.poetry.group."+name+".dependencies]", of.Dependencies)
		})
	}
	if len(tools.Poetry.DevDependencies) > 0 {
		also("dev", func([]string) error {
			return t.addPoetryGroup("[tool.poetry.dev-dependencies]", tools.Poetry.DevDependencies)
		})
	}
	if len(tools.UV.Dev) > 0 {
		also("dev", func([]string) error { return t.add(tools.UV.Dev) })
	}
	return all
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

// warnDynamic warns if only the build of a project knows what it needs.
func (r *reader) warnDynamic(p projectFile, name string) {
	if len(p.Project.Dependencies)+len(p.Tool.Poetry.Dependencies) == 0 && slices.Contains(p.Project.Dynamic, "dependencies") {
		r.wanted.Unread = true
		r.warn(name + ": its dependencies are dynamic and can't be read: list them in [project].dependencies or requirements.txt")
	}
}
