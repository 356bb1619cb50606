package deps

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// origin says that a requirement comes from elsewhere than the indexes that are asked for all.
type origin struct {
	line  Line
	from  string // such as "the index inner"
	table string // which says so
	byUV  bool
}

// origins are a table of a tool: where packages come from, by their names.
type origins struct {
	table string
	of    map[string]any
	byUV  bool
}

// origins returns the tables that say where the packages of a project in a directory come from. root is its
// workspace.
func (r *reader) origins(p projectFile, dir string, root workspace) []origins {
	all := []origins{{uvSources, p.Tool.UV.Sources, true}}
	if root.dir != dir {
		all = append(all, origins{uvSources + " of " + r.name(filepath.Join(root.dir, string(Project))), root.uv.Sources, true})
	}
	return append(all, origins{"[tool.poetry.dependencies]", p.Tool.Poetry.Dependencies, false})
}

// uvSources is the table of uv.
const uvSources = "[tool.uv.sources]"

// place applies what the tables say about a requirement: a path in the package root becomes part of it,
// everything else is remembered for checkOrigins.
func (t *table) place(l Line, wanted requirement.Requirement) Line {
	for _, all := range t.origins {
		for name, source := range all.of {
			if requirement.Normalize(name) != requirement.Normalize(wanted.Name) {
				continue
			}
			if path, ok := onlyPath(source); ok && all.table == uvSources {
				return atPath(l, wanted, path)
			}
			from := describe(source)
			if from == "" && all.byUV {
				from = "a source that is not known"
			}
			if from != "" {
				t.elsewhere = append(t.elsewhere, origin{l, from, all.table, all.byUV})
				return l
			}
		}
	}
	return l
}

// onlyPath returns the path of a source that is nothing else.
func onlyPath(source any) (string, bool) {
	s, _ := source.(map[string]any)
	path, ok := s["path"].(string)
	for key := range s {
		ok = ok && slices.Contains([]string{"path", "editable", "package"}, key)
	}
	return path, ok
}

// atPath returns a requirement that is at a path.
func atPath(l Line, wanted requirement.Requirement, path string) Line {
	_, marker, marked := strings.Cut(l.Text, ";")
	if !looksLocal(path) {
		path = "./" + path
	}
	l.Text = wanted.Name
	if len(wanted.Extras) > 0 {
		l.Text += "[" + strings.Join(wanted.Extras, ",") + "]"
	}
	l.Text += " @ " + path
	if marked {
		l.Text += " ; " + strings.TrimSpace(marker)
	}
	return l
}

// describe returns where a source is, "" if it is none. Poetry's tables have versions as well.
func describe(source any) string {
	switch s := source.(type) {
	case []any:
		for _, one := range s {
			if describe(one) != "" {
				return "one of several sources"
			}
		}
	case map[string]any:
		for _, kind := range []struct{ key, what string }{
			{"git", "the Git repository "}, {"url", ""}, {"path", "the path "}, {"index", "the index "}, {"source", "the index "},
		} {
			if value, ok := s[kind.key].(string); ok {
				return kind.what + value
			}
		}
		if s["workspace"] == true {
			return "the workspace"
		}
	}
	return ""
}

// checkOrigins returns an error about the first requirement that the indexes would be asked for, although it
// comes from elsewhere: anybody may have put a package of that name there.
func (r *reader) checkOrigins() error {
	all := slices.Concat(r.wanted.Requirements, r.wanted.Dropped) // which --runtime none restores
	for _, o := range r.elsewhere {
		isWanted := slices.ContainsFunc(all, func(l Line) bool { return l.Text == o.line.Text && l.Place() == o.line.Place() })
		isListed := r.wanted.Kind == Requirements && slices.ContainsFunc(all, func(l Line) bool {
			return l.File != o.line.File && requirement.Normalize(l.Name()) == requirement.Normalize(o.line.Name())
		})
		if isWanted && !isListed {
			return wrong(o.line.Place(), fmt.Errorf("%q comes from %s, as %s says, %s", o.line.Text, o.from, o.table, r.insteadOf(o)))
		}
	}
	return nil
}

// insteadOf says why an origin does not count, and what to do.
func (r *reader) insteadOf(o origin) string {
	switch {
	case r.wanted.Kind == Requirements:
		return "which is not used for " + r.wanted.Source + ": list the package there, too"
	case r.wanted.Kind == Script:
		return fmt.Sprintf("which is not read in scripts: write %q", o.line.Name()+" @ URL")
	case !o.byUV:
		return "which is not read: run " + r.poetryExport()
	}
	if lock := filepath.Join(r.wanted.Dir, string(UVLock)); platform.IsFile(lock) {
		return "which is used only with its lock: use --requirements " + r.name(lock)
	}
	return "which is used only with a lock: run uv lock"
}

// poetryExport returns the command that writes all that the job needs to requirements.txt, with the sources and the
// hashes. That file has neither extras nor groups, so the command names those that are wanted.
func (r *reader) poetryExport() string {
	command := "poetry export -f requirements.txt -o requirements.txt"
	for _, extra := range r.Extras {
		command += " --extras " + extra
	}
	for _, group := range r.Groups {
		command += " --with " + group
	}
	if len(r.Extras)+len(r.Groups) > 0 {
		command += ", and leave out --extra and --group"
	}
	return command
}

// leaveOutLocal leaves out the requirements that local projects meet, because the job has their code, and those of
// local projects that a line with hashes meets, as uv export writes it. What their extras need is added.
func (r *reader) leaveOutLocal() error {
	if len(r.local) == 0 {
		return nil
	}
	pins := pinsOf(r.wanted.Requirements)
	var left []Line
	for i := 0; i < len(r.wanted.Requirements); i++ { // which grow
		l := r.wanted.Requirements[i]
		dir := r.local[requirement.Normalize(l.Name())]
		wanted, err := requirement.Parse(l.Text)
		if dir == "" {
			if err != nil || len(l.Hashes) > 0 || !pins.meet(wanted) {
				left = append(left, l)
			}
			continue
		}
		file := filepath.Join(dir, string(Project))
		if err != nil || len(wanted.Extras) == 0 || !platform.IsFile(file) {
			continue
		}
		if err := r.project(dir, r.name(file), wanted.Extras, nil); err != nil {
			return wrong(l.Place(), err)
		}
	}
	r.wanted.Requirements = left
	return nil
}

// pins are the versions of requirements with hashes, by their normalized names.
type pins map[string]requirement.Version

func pinsOf(lines []Line) pins {
	found := pins{}
	for _, l := range lines {
		r, err := requirement.Parse(l.Text)
		text, pinned := r.Specifiers.Pinned()
		v, versionErr := requirement.ParseVersion(text)
		if len(l.Hashes) > 0 && pinned && err == nil && versionErr == nil {
			found[requirement.Normalize(r.Name)] = v
		}
	}
	return found
}

// meet reports whether a requirement is pinned in a version that it allows.
func (p pins) meet(r requirement.Requirement) bool {
	v, found := p[requirement.Normalize(r.Name)]
	return found && r.URL == "" && r.Specifiers.Contain(v)
}

// isProject remembers that the code of a project, whose name may be "", is in a directory of the package root.
func (r *reader) isProject(name, dir string) {
	for _, other := range []string{"setup.cfg", "setup.py"} {
		if name != "" {
			break
		}
		if text, err := os.ReadFile(filepath.Join(dir, other)); err == nil {
			if m := lazyregexp.Of(setupName).FindSubmatch(text); m != nil {
				name = string(m[1])
			}
		}
	}
	if name != "" {
		r.local[requirement.Normalize(name)] = dir
	}
}

// setupName matches the name of a project that its setup.cfg or setup.py spells out.
const setupName = `(?m)^[ \t]*(?:setup\([ \t]*)?name[ \t]*=[ \t]*["']?([A-Za-z0-9][A-Za-z0-9._-]*)`
