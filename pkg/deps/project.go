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
		Poetry poetryTable
		PDM    pdmTable
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
	Dev           []string `toml:"dev-dependencies"` // the group dev of old versions
	Sources       map[string]any
	Workspace     *workspaceTable

	// Those that count with a lock only, beside Overrides.
	DefaultGroups any `toml:"default-groups"`
	Metadata      any `toml:"dependency-metadata"`
	ExcludeNewer  any `toml:"exclude-newer"`
	IndexStrategy any `toml:"index-strategy"`
	Prerelease    any
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
	r.settings(root.uv, root.dir)
	if err := r.sourcesOf(p, dir); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := r.limits(root.uv, r.name(filepath.Join(root.dir, string(Project)))); err != nil {
		return err
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
}

// add adds requirements.
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
	l.Text = strings.ReplaceAll(l.Text, "{root:uri}/", "./") // as Hatch has it
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
	known := slices.Collect(maps.Keys(t.file.Project.Optional))
	if t.file.poetry() {
		for name, of := range t.file.Tool.Poetry.Extras {
			if requirement.Normalize(name) == requirement.Normalize(extra) {
				return t.addPoetry(t.file.Tool.Poetry.Dependencies, named(of))
			}
			known = append(known, name)
		}
	}
	slices.Sort(known)
	return unknown(t.name, "extra", extra, known)
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

// group adds the requirements of a dependency group (PEP 735), or of what tools called so before. outer are the
// groups that include it.
func (t *table) group(group string, outer []string) error {
	normal := requirement.Normalize(group)
	if slices.Contains(outer, normal) {
		return fmt.Errorf("%s: the group %q includes itself", t.name, group)
	}
	found := false
	var known []string
	for _, g := range t.groups() {
		known = append(known, g.name)
		if requirement.Normalize(g.name) != normal {
			continue
		}
		found = true
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

// groups returns all groups of the project. Several tables may have the same.
func (t *table) groups() (all []dependencyGroup) {
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
		also(name, func([]string) error { return t.addPoetry(of.Dependencies, anyOf) })
	}
	if len(tools.Poetry.DevDependencies) > 0 {
		also("dev", func([]string) error { return t.addPoetry(tools.Poetry.DevDependencies, anyOf) })
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

// settings adds the indexes of uv.
func (r *reader) settings(uv uvTable, dir string) {
	for _, i := range uv.Index {
		if i.URL == "" || i.Explicit && r.wanted.Kind != UVLock { // which alone says what is from it
			continue
		}
		if i.Format == "flat" {
			r.addLinks(i.URL, dir)
			r.nameIndex(i.Name, i.URL)
		} else {
			r.addIndex(i.Name, i.URL, i.Default)
		}
	}
	if uv.IndexURL != "" {
		r.addIndex("", uv.IndexURL, true)
	}
	for _, url := range uv.ExtraIndexURL {
		r.addIndex("", url, false)
	}
	for _, value := range uv.FindLinks {
		r.addLinks(value, dir)
	}
}

// addIndex adds an index. name is what the project's tool calls it, "" for none.
func (r *reader) addIndex(name, url string, isDefault bool) {
	option := "--extra-index-url"
	if isDefault {
		option = "--index-url"
	}
	r.addOption(option, url)
	r.nameIndex(name, url)
}

// addLinks adds a page or a directory of links.
func (r *reader) addLinks(value, dir string) {
	if !isURL(value) && !filepath.IsAbs(value) {
		value = filepath.Join(dir, value)
	}
	r.addOption("--find-links", value)
}

// addOption adds an option of pip, once: several members of a workspace may have it.
func (r *reader) addOption(option, value string) {
	if option += " " + value; !slices.Contains(r.wanted.Options, option) {
		r.wanted.Options = append(r.wanted.Options, option)
	}
}

func (r *reader) nameIndex(name, url string) {
	if name == "" {
		return
	}
	if r.wanted.IndexNames == nil {
		r.wanted.IndexNames = map[string]string{}
	}
	r.wanted.IndexNames[url] = name
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
	var unread []string
	for _, s := range []struct {
		name string
		set  bool
	}{
		{"default-groups", uv.DefaultGroups != nil}, {"dependency-metadata", uv.Metadata != nil}, {"exclude-newer", uv.ExcludeNewer != nil},
		{"index-strategy", uv.IndexStrategy != nil}, {"override-dependencies", len(uv.Overrides) > 0}, {"prerelease", uv.Prerelease != nil},
	} {
		if s.set {
			unread = append(unread, s.name)
		}
	}
	if len(unread) > 0 {
		r.wanted.Warnings = append(r.wanted.Warnings, fmt.Sprintf("%s: without a lock, these settings of uv don't count: %s: run uv lock", name, strings.Join(unread, ", ")))
	}
	return nil
}

// warnDynamic warns if only the build of a project knows what it needs.
func (r *reader) warnDynamic(p projectFile, name string) {
	if len(p.Project.Dependencies)+len(p.Tool.Poetry.Dependencies) == 0 && slices.Contains(p.Project.Dynamic, "dependencies") {
		r.wanted.Unread = true
		r.wanted.Warnings = append(r.wanted.Warnings, name+": its dependencies are dynamic, which are not read: list them in [project].dependencies or requirements.txt")
	}
}
