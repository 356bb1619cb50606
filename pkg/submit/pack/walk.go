package pack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// tree is the result of a walk.
type tree struct {
	files    []file // sorted by rel
	warnings []string
	dirs     []string
}

// walker collects a tree. It visits real directories before symlinked ones, so that a
// link never takes the place of the directory it points to.
type walker struct {
	tree
	ignore  func(rel string, isDir bool) bool
	exclude []string
	except  []fs.FileInfo
	// seen maps the real path of each packaged directory to its rel.
	seen  map[string]string
	found []found
	links []link
}

// found is what a directory lists that is neither a directory nor a symlink.
type found struct {
	entry    fs.DirEntry
	abs, rel string
}

type link struct{ rel, target string }

// walk lists what to package from root, which is the real path of opts.Root.
func walk(ctx context.Context, root string, opts Options) (*tree, error) {
	w := &walker{ignore: opts.Ignore, except: opts.Except, seen: map[string]string{}}
	if w.ignore == nil {
		w.ignore = func(string, bool) bool { return false }
	}
	w.exclude = excluded(root, append(slices.Clone(opts.Exclude), opts.CacheDir))
	if err := w.dir(ctx, root, ""); err != nil {
		return nil, err
	}
	for len(w.links) > 0 {
		next := w.links[0]
		w.links = w.links[1:]
		if err := w.linkedDir(ctx, next); err != nil {
			return nil, err
		}
	}
	if err := w.look(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(w.files, func(a, b file) int { return strings.Compare(a.rel, b.rel) })
	slices.Sort(w.warnings)
	return &w.tree, nil
}

func realDir(dir string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("packaging %s: %w", dir, cause(err))
	}
	if !info.IsDir() {
		return "", fmt.Errorf("packaging %s: it is not a directory", dir)
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("packaging %s: %w", dir, cause(err))
	}
	return resolved, nil
}

// excluded returns the real paths of those paths that exist and don't contain root.
func excluded(root string, paths []string) []string {
	var resolved []string
	for _, p := range paths {
		if r, err := filepath.EvalSymlinks(p); p != "" && err == nil && !within(r, root) {
			resolved = append(resolved, r)
		}
	}
	return resolved
}

// within reports whether a path is dir or is under it. Both are clean.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

func (w *walker) skip(rel, abs string, isDir bool) bool {
	return w.ignore(rel, isDir) || slices.ContainsFunc(w.exclude, func(ex string) bool { return within(ex, abs) })
}

func (w *walker) warn(rel, format string, args ...any) {
	w.warnings = append(w.warnings, fmt.Sprintf("skipped %q: ", rel)+fmt.Sprintf(format, args...))
}

// dir adds a directory, given by its real path, and everything under it.
func (w *walker) dir(ctx context.Context, abs, rel string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.seen[abs] = rel
	if rel != "" {
		w.dirs = append(w.dirs, rel)
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		return unreadable(rel, err)
	}
	for _, entry := range entries {
		if err := w.entry(ctx, entry, join(abs, entry.Name(), filepath.Separator), join(rel, entry.Name(), '/')); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(ctx context.Context, entry fs.DirEntry, abs, rel string) error {
	if entry.Type() == fs.ModeSymlink {
		return w.link(abs, rel)
	}
	if w.skip(rel, abs, entry.IsDir()) {
		return nil
	}
	if entry.IsDir() {
		if err := checkName(rel); err != nil {
			return err
		}
		if !w.firstVisit(abs, rel) {
			return nil
		}
		return w.dir(ctx, abs, rel)
	}
	w.found = append(w.found, found{entry, abs, rel})
	return nil
}

// join is filepath.Join of a clean directory, which may be empty, and a name. It need not clean the path again.
func join(dir, name string, separator byte) string {
	if dir == "" || dir[len(dir)-1] == separator {
		return dir + name
	}
	return dir + string(separator) + name
}

// look adds the files that were found. That takes a system call for each, so all processors do it.
func (w *walker) look(ctx context.Context) error {
	infos := make([]fs.FileInfo, len(w.found))
	err := parallel(ctx, len(w.found), func(_ context.Context, i int, _ []byte) (err error) {
		infos[i], err = w.found[i].entry.Info()
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // deleted since the directory was read
			return unreadable(w.found[i].rel, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.files = slices.Grow(w.files, len(infos))
	for i, f := range w.found {
		if infos[i] == nil {
			continue
		}
		if err := w.file(f.abs, f.rel, infos[i]); err != nil {
			return err
		}
	}
	return nil
}

// file adds anything that is neither a directory nor a symlink.
func (w *walker) file(abs, rel string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		w.warn(rel, "it is a %s, not a regular file", kind(info.Mode()))
		return nil
	}
	if slices.ContainsFunc(w.except, func(e fs.FileInfo) bool { return os.SameFile(info, e) }) {
		return nil
	}
	if err := checkName(rel); err != nil {
		return err
	}
	w.files = append(w.files, file{rel: rel, abs: abs, mode: bundleMode(info.Mode(), rel, runtime.GOOS), stamp: stampOf(info)})
	return nil
}

// bundleMode returns the mode of a file of a bundle in the index, which is the same on every
// machine: 0755 for an executable file, else 0, which means the default.
func bundleMode(mode fs.FileMode, rel, goos string) uint32 {
	if isExecutable(mode, rel, goos) {
		return 0o755
	}
	return 0
}

// isExecutable reports whether a job may run the file. Files on Windows don't say so: there
// it may run shell scripts.
func isExecutable(mode fs.FileMode, rel, goos string) bool {
	if goos == "windows" {
		return path.Ext(rel) == ".sh"
	}
	return mode&0o100 != 0
}

// link adds the target of a symlink. Directories are queued until the others are done.
func (w *walker) link(abs, rel string) error {
	info, err := os.Stat(abs)
	if errors.Is(err, fs.ErrPermission) && !w.skip(rel, abs, false) {
		return unreadable(rel, err)
	}
	if err != nil {
		if !w.skip(rel, abs, false) {
			target, _ := os.Readlink(abs)
			w.warn(rel, "it is a broken symlink to %q", target)
		}
		return nil
	}
	target, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return unreadable(rel, err)
	}
	switch {
	case w.skip(rel, target, info.IsDir()):
		return nil
	case info.IsDir():
		w.links = append(w.links, link{rel: rel, target: target})
		return nil
	default:
		return w.file(target, rel, info)
	}
}

// linkedDir adds the directory that a symlink points to.
func (w *walker) linkedDir(ctx context.Context, l link) error {
	if err := checkName(l.rel); err != nil {
		return err
	}
	if !w.firstVisit(l.target, l.rel) {
		return nil
	}
	return w.dir(ctx, l.target, l.rel)
}

// firstVisit reports whether a real directory is new. If not, it warns under which name
// the directory is packaged. That also ends loops.
func (w *walker) firstVisit(abs, rel string) bool {
	first, seen := w.seen[abs]
	if !seen {
		return true
	}
	if first == "" {
		first = "."
	}
	w.warn(rel, "its directory is already packaged as %q", first)
	return false
}

// emptyDirs lists the directories without any files under them, sorted.
func (t *tree) emptyDirs() []string {
	full := map[string]bool{}
	for _, f := range t.files {
		for dir := path.Dir(f.rel); dir != "." && !full[dir]; dir = path.Dir(dir) {
			full[dir] = true
		}
	}
	empty := slices.DeleteFunc(slices.Clone(t.dirs), func(dir string) bool { return full[dir] })
	slices.Sort(empty)
	return empty
}

// checkName rejects names that are not UTF-8, which the JSON index cannot hold, and names
// with a backslash, which the runner rejects because some programs take it for a
// separator.
func checkName(rel string) error {
	switch {
	case !utf8.ValidString(rel):
		return &FileError{Path: rel, Problem: "its name is not UTF-8", Remedy: "rename it"}
	case strings.Contains(rel, `\`):
		return &FileError{Path: rel, Problem: "its name has a backslash", Remedy: "rename it"}
	}
	return nil
}

// cause returns the reason in an error without the path, for messages that name the path.
func cause(err error) error {
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return named.Err
	}
	return err
}

// kind names the type of a file that is not regular.
func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeDevice != 0:
		return "device"
	case mode&fs.ModeIrregular != 0: // on Windows
		return "junction or another special file"
	default:
		return "special file"
	}
}
