package deps

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// workspace is a workspace of uv: projects that have one lock.
type workspace struct {
	// dir is the absolute directory of its root.
	dir string
	// uv are the settings of its root. Those for indexes count for all its members.
	uv uvTable
}

// workspaceTable says which directories below a root are members.
type workspaceTable struct{ Members, Exclude []string }

// workspaceOf returns the workspace that a project in a directory is a member of, other than its root, and
// whether there is one. As for uv, the nearest root decides.
func (r *reader) workspaceOf(dir string) (w workspace, found bool, err error) {
	for at := dir; !isTop(at, r.Home); {
		at = filepath.Dir(at)
		file := filepath.Join(at, string(Project))
		if !platform.IsFile(file) {
			continue
		}
		var p projectFile
		if err := r.decode(file, &p); err != nil {
			return w, false, err
		}
		if p.Tool.UV.Workspace == nil {
			continue
		}
		rel, err := filepath.Rel(at, dir)
		return workspace{dir: at, uv: p.Tool.UV}, err == nil && p.Tool.UV.Workspace.has(filepath.ToSlash(rel)), nil
	}
	return w, false, nil
}

// has reports whether a directory, relative to the root, is a member.
func (t workspaceTable) has(dir string) bool {
	matches := func(pattern string) bool {
		return matchParts(strings.Split(path.Clean(pattern), "/"), strings.Split(dir, "/"))
	}
	return slices.ContainsFunc(t.Members, matches) && !slices.ContainsFunc(t.Exclude, matches)
}

// matchParts reports whether the parts of a path match those of a pattern. Of these, ** stands for any number of parts.
func matchParts(pattern, parts []string) bool {
	switch {
	case len(pattern) == 0:
		return len(parts) == 0
	case pattern[0] == "**":
		return matchParts(pattern[1:], parts) || len(parts) > 0 && matchParts(pattern, parts[1:])
	case len(parts) == 0:
		return false
	}
	ok, err := path.Match(pattern[0], parts[0])
	return ok && err == nil && matchParts(pattern[1:], parts[1:])
}

// workspaceLock returns the uv.lock that counts for the pyproject.toml of a member of a workspace, "" if there is
// none, or one beside that file.
func (r *reader) workspaceLock(file string) (string, error) {
	dir := filepath.Dir(file)
	if filepath.Base(file) != string(Project) || platform.IsFile(filepath.Join(dir, string(UVLock))) {
		return "", nil
	}
	root, found, err := r.workspaceOf(dir)
	if lock := filepath.Join(root.dir, string(UVLock)); err == nil && found && platform.IsFile(lock) {
		return lock, nil
	}
	return "", err
}
