package deps

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

type poetryTable struct {
	Name         string
	Dependencies map[string]any
	Extras       map[string][]string // the optional dependencies of each
	Groups       map[string]struct {
		Dependencies map[string]any
		Included     []string `toml:"include-groups"` // other groups, since Poetry 2.2
		Optional     bool
	} `toml:"group"`
	DevDependencies map[string]any `toml:"dev-dependencies"` // the group dev of old versions
	Sources         []struct {
		Name, URL, Priority string
		Default, Secondary  bool // of old versions
	} `toml:"source"`
}

// poetry reports whether the project's dependencies are those of Poetry's table, which otherwise only says more
// about those of [project].
func (p projectFile) poetry() bool {
	return len(p.Project.Dependencies) == 0 || slices.Contains(p.Project.Dynamic, "dependencies")
}

// addPoetry adds dependencies of one of Poetry's tables for which wanted holds.
func (t *table) addPoetry(of map[string]any, wanted func(name string, optional bool) bool) error {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if name == "python" {
			continue
		}
		variants, isList := of[name].([]any)
		if !isList {
			variants = []any{of[name]}
		}
		for _, v := range variants {
			d, err := newPoetryDependency(v)
			if err == nil && !wanted(name, d.optional) {
				continue
			}
			l := Line{File: t.name, Number: t.lineOfKey(name)}
			if err == nil {
				l.Text, err = d.requirement(name)
			}
			if err != nil {
				return wrong(l.Place(), fmt.Errorf("%s: %w", name, err))
			}
			if err := t.addLine(l); err != nil {
				return err
			}
		}
	}
	return nil
}

// addPoetryGroup adds all dependencies of one of Poetry's tables, which also says where they come from.
func (t *table) addPoetryGroup(name string, of map[string]any) error {
	outer := t.origins
	defer func() { t.origins = outer }()
	t.origins = append(slices.Clip(outer), origins{name, of, false})
	return t.addPoetry(of, anyOf)
}

// warnGroups warns of groups that Poetry installs by itself, and a job only if they are asked for. Those of other local
// projects are theirs alone.
func (t *table) warnGroups() {
	if t.wanted.Kind != Project || t.dir != t.projectDir {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t.file.Tool.Poetry.Groups)) {
		g := t.file.Tool.Poetry.Groups[name]
		isIt := func(other string) bool { return requirement.Normalize(other) == requirement.Normalize(name) }
		text := fmt.Sprintf("%s: Poetry's group %s is not installed: add --group %s if the job needs it; if not, optional = true in [tool.poetry.group.%s] ends this warning", t.name, name, name, name)
		if g.Optional || len(g.Dependencies)+len(g.Included) == 0 || isForDevelopment(name) || slices.ContainsFunc(t.groups, isIt) {
			continue
		}
		t.wanted.Unread = true
		t.warn(text)
	}
}

// Choices of a table's dependencies: the required ones, all, and the optional ones that an extra names.
func mainOnly(_ string, optional bool) bool { return !optional }
func anyOf(string, bool) bool               { return true }
func named(names []string) func(string, bool) bool {
	return func(name string, optional bool) bool {
		return optional && slices.ContainsFunc(names, func(other string) bool { return requirement.Normalize(other) == requirement.Normalize(name) })
	}
}

// lineOfKey returns the number of the first line that gives a key of a table a value, 0 if there is none.
func (t *table) lineOfKey(key string) int {
	n := 0
	for line := range strings.Lines(string(t.text)) {
		n++
		name, _, found := strings.Cut(line, "=")
		if found && strings.Trim(strings.TrimSpace(name), `"'`) == key {
			return n
		}
	}
	return 0
}

// poetryDependency is a dependency in Poetry's own notation.
type poetryDependency struct {
	version, markers, python, platform string
	extras                             []string
	optional                           bool
	address                            string // from where it comes, "" for an index
}

func newPoetryDependency(value any) (d poetryDependency, err error) {
	switch value := value.(type) {
	case string:
		d.version = value
	case map[string]any:
		text := func(key string) string { s, _ := value[key].(string); return s }
		d = poetryDependency{version: text("version"), markers: text("markers"), python: text("python"), platform: text("platform")}
		d.optional, _ = value["optional"].(bool)
		extras, _ := value["extras"].([]any)
		for _, extra := range extras {
			d.extras = append(d.extras, fmt.Sprint(extra))
		}
		switch path := cmp.Or(text("path"), text("file")); {
		case text("git") != "":
			d.address = gitAddress(text("git"), cmp.Or(text("rev"), text("tag"), text("branch")), text("subdirectory"))
		case text("url") != "":
			d.address = text("url")
		case path != "" && !looksLocal(path):
			d.address = "./" + path
		case path != "":
			d.address = path
		}
	default:
		return d, errors.New("a dependency is a version or a table")
	}
	return d, nil
}

func gitAddress(repository, revision, subdirectory string) string {
	if host, path, found := strings.Cut(repository, ":"); found && !strings.Contains(repository, "://") {
		repository = "ssh://" + host + "/" + path // user@host:path
	}
	address := "git+" + repository
	if revision != "" {
		address += "@" + revision
	}
	if subdirectory != "" {
		address += "#subdirectory=" + subdirectory
	}
	return address
}

// requirement returns the dependency as PEP 508 writes it.
func (d poetryDependency) requirement(name string) (string, error) {
	text := name
	if len(d.extras) > 0 {
		text += "[" + strings.Join(d.extras, ",") + "]"
	}
	if d.address != "" {
		text += " @ " + d.address
	} else {
		all, err := poetryRanges(d.version)
		if err != nil {
			return "", err
		}
		if len(all) > 1 {
			return "", errors.New("a requirement can't have || between versions (PEP 508): choose one range")
		}
		text += strings.Join(all[0], ",")
	}
	var markers []string
	if d.python != "" {
		python, err := pythonMarker(d.python)
		if err != nil {
			return "", fmt.Errorf("python: %w", err)
		}
		markers = append(markers, python)
	}
	if d.platform != "" {
		markers = append(markers, fmt.Sprintf("sys_platform == %q", d.platform))
	}
	if d.markers != "" {
		markers = append(markers, "("+d.markers+")")
	}
	if len(markers) > 0 {
		text += " ; " + strings.Join(markers, " and ")
	}
	return text, nil
}

func pythonMarker(versions string) (string, error) {
	ranges, err := poetryRanges(versions)
	if err != nil {
		return "", err
	}
	var all []string
	for _, conditions := range ranges {
		var each []string
		for _, c := range conditions {
			operator, version, isMinor := pythonCondition(c)
			name := "python_full_version"
			if isMinor {
				name = "python_version"
			}
			each = append(each, fmt.Sprintf("%s %s %q", name, operator, version))
		}
		if len(each) == 0 {
			each = []string{`python_version >= "0"`}
		}
		all = append(all, strings.Join(each, " and "))
	}
	return "(" + strings.Join(all, " or ") + ")", nil
}

// pythonCondition splits a condition on Python. One of at most two numbers, such as <=3.10, is about minor versions, as
// Poetry reads it: it holds for 3.10.19.
func pythonCondition(condition string) (operator, version string, isMinor bool) {
	version = strings.TrimLeft(condition, "~=!<>")
	return strings.TrimSuffix(condition, version), version, strings.Count(strings.TrimSuffix(version, ".*"), ".") < 2
}

// requiresPython returns the versions of Python that Poetry's table asks for, "" if it has none, or more than one range.
// Other than in the markers of dependencies, >3.10 includes 3.10.1 there.
func (p poetryTable) requiresPython() string {
	text, _ := p.Dependencies["python"].(string)
	all, err := poetryRanges(text)
	if err != nil || len(all) != 1 {
		return ""
	}
	for i, c := range all[0] {
		operator, version, isMinor := pythonCondition(c)
		next, err := afterRange(version, false)
		if err != nil || !isMinor || strings.Trim(version, "0123456789.") != "" {
			continue
		}
		switch {
		case operator == "==":
			all[0][i] = c + ".*"
		case operator == "<=" && strings.Contains(version, "."):
			all[0][i] = "<" + next
		}
	}
	return strings.Join(all[0], ",")
}

// blanks matches what a blank may be behind without meaning "and".
const blanks = `([\^~=!<>])\s+`

// poetryRanges reads the versions that Poetry allows: ranges, of which one is enough, as the conditions of PEP 440.
func poetryRanges(text string) (ranges [][]string, err error) {
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "||", "|"), "|") {
		conditions := []string{}
		part = lazyregexp.Of(blanks).ReplaceAllString(part, "$1")
		for _, one := range strings.FieldsFunc(part, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
			some, err := poetryCondition(one)
			if err != nil {
				return nil, err
			}
			conditions = append(conditions, some...)
		}
		ranges = append(ranges, conditions)
	}
	return ranges, nil
}

func poetryCondition(text string) (conditions []string, err error) {
	version := strings.TrimLeft(text, "^~=!<>")
	switch operator := strings.TrimSuffix(text, version); {
	case version == "*" || text == "":
		return nil, nil
	case operator == "^" || operator == "~":
		next, err := afterRange(version, operator == "^")
		conditions = []string{">=" + version, "<" + next}
		if err != nil {
			return nil, err
		}
	case operator == "" || operator == "=":
		conditions = []string{"==" + version}
	default:
		conditions = []string{text}
	}
	_, err = requirement.ParseSpecifiers(strings.Join(conditions, ","))
	return conditions, err
}

// afterRange returns the first version behind a range: ^1.2 goes up to 2, ~1.2 up to 1.3.
func afterRange(version string, caret bool) (string, error) {
	release := strings.TrimRight(version[:len(version)-len(strings.TrimLeft(version, "0123456789."))], ".")
	var numbers []int
	for digits := range strings.SplitSeq(release, ".") {
		n, err := strconv.Atoi(digits)
		if err != nil {
			return "", fmt.Errorf("%q is not a version", version)
		}
		numbers = append(numbers, n)
	}
	at := min(1, len(numbers)-1)
	if caret {
		at = max(0, slices.IndexFunc(numbers, func(n int) bool { return n > 0 }))
		if slices.Max(numbers) == 0 {
			at = len(numbers) - 1
		}
	}
	numbers[at]++
	var next []string
	for _, n := range numbers[:at+1] {
		next = append(next, strconv.Itoa(n))
	}
	return strings.Join(next, "."), nil
}

// sourcesOf adds the indexes of Poetry and PDM that a file in a directory has. uv's lock has what uv asked.
func (r *reader) sourcesOf(p projectFile, dir, file string) error {
	if r.wanted.Kind == UVLock {
		return nil
	}
	r.poetrySources(p.Tool.Poetry, file)
	return r.pdmSources(p.Tool.PDM, dir, file)
}

// nameOfPyPI is PyPI's name among the sources of Poetry, where it needs no URL, and of PDM.
const nameOfPyPI = "pypi"

// poetrySources adds the indexes of Poetry. The first primary one replaces PyPI; an explicit one is only for
// packages that name it, which checkOrigins refuses.
func (r *reader) poetrySources(p poetryTable, file string) {
	primary := false
	for _, s := range p.Sources {
		url := s.URL
		if strings.EqualFold(s.Name, nameOfPyPI) {
			url = cmp.Or(url, PyPI)
		}
		if url == "" || s.Priority == "explicit" {
			continue
		}
		isPrimary := !s.Secondary && slices.Contains([]string{"", "primary", "default"}, s.Priority)
		r.addIndex(s.Name, url, isPrimary && !primary, file)
		primary = primary || isPrimary
	}
}

type pdmTable struct {
	DevDependencies map[string][]string `toml:"dev-dependencies"` // groups
	Sources         []struct {
		Name, URL, Type string
		Include         []string `toml:"include_packages"`
		Exclude         []string `toml:"exclude_packages"`
	} `toml:"source"`
}

// pdmSources adds the indexes of PDM. The one called pypi replaces PyPI.
func (r *reader) pdmSources(p pdmTable, dir, file string) error {
	for _, s := range p.Sources {
		switch {
		case len(s.Include)+len(s.Exclude) > 0:
			return fmt.Errorf("[[tool.pdm.source]] %s has include_packages or exclude_packages, which are not read, and other indexes may have packages of these names from anybody: run pdm export -f requirements -o requirements.txt", s.Name)
		case s.URL == "":
		case s.Type == "find_links":
			r.addLinks(s.URL, dir, file)
		default:
			r.addIndex(s.Name, s.URL, s.Name == nameOfPyPI, file)
		}
	}
	return nil
}
