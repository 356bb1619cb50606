package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// lister walks a tree of data. It keeps links that stay in the tree, and follows others.
type lister struct {
	*list
	exclude  []string
	bases    []base
	warnings []string
	skipped  int // files that more warnings would be about
}

// base is a directory that was reached by its name or a link: the tree's root, or a
// directory out of the tree.
type base struct {
	real string
	rel  string
}

const (
	readAtOnce  = 1024 // entries of a directory
	maxWarnings = 20   // about files that are skipped
	maxBases    = 40   // links out of the tree, each in the directory of the one before
)

// listTree lists a directory, or a single file under its name.
func listTree(ctx context.Context, opts Options) (*lister, error) {
	real, err := filepath.EvalSymlinks(opts.Root)
	if err != nil {
		return nil, fmt.Errorf("packaging %s: %w", opts.Root, cause(err))
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, fmt.Errorf("packaging %s: %w", opts.Root, cause(err))
	}
	if info.Mode().IsRegular() {
		l := &lister{list: newList(filepath.Dir(opts.Root))}
		l.add(0, filepath.Base(opts.Root), followedFile)
		return l, nil
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("packaging %s: it is a %s, not a directory or a file", opts.Root, kind(info.Mode()))
	}
	l := &lister{list: newList(real), bases: []base{{real: real}}}
	l.exclude = excluded(real, append(slices.Clone(opts.Exclude), opts.CacheDir))
	if err := l.dir(ctx, real, "", 0); err != nil {
		return nil, err
	}
	l.fillEmptyDirs()
	slices.Sort(l.warnings)
	if l.skipped > 0 {
		l.warnings = append(l.warnings, fmt.Sprintf("skipped %d more files", l.skipped))
	}
	return l, nil
}

func (l *lister) warn(rel, format string, args ...any) {
	if len(l.warnings) >= maxWarnings {
		l.skipped++
		return
	}
	l.warnings = append(l.warnings, fmt.Sprintf("skipped %q: ", rel)+fmt.Sprintf(format, args...))
}

// dir adds what is in a directory, a part of it at a time.
func (l *lister) dir(ctx context.Context, abs, rel string, number uint32) error {
	f, err := os.Open(abs)
	if err != nil {
		return unreadable(rel, err)
	}
	var below []fs.DirEntry
	for {
		entries, err := f.ReadDir(readAtOnce)
		for _, e := range entries {
			if e.IsDir() || e.Type() == fs.ModeSymlink {
				below = append(below, e)
			} else {
				l.file(e, rel, number)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(unreadable(rel, err), f.Close())
		}
		if err := ctx.Err(); err != nil {
			return errors.Join(err, f.Close())
		}
		if l.count > math.MaxInt32 {
			return errors.Join(fmt.Errorf("packaging %s: there are too many files", l.bases[0].real), f.Close())
		}
	}
	if err := f.Close(); err != nil {
		return unreadable(rel, err)
	}
	for _, e := range below {
		if err := l.below(ctx, e, filepath.Join(abs, e.Name()), path.Join(rel, e.Name()), number); err != nil {
			return err
		}
	}
	return nil
}

// file adds an entry that is neither a directory nor a link.
func (l *lister) file(e fs.DirEntry, dir string, number uint32) {
	if e.Type().IsRegular() {
		l.add(number, e.Name(), listedFile)
		return
	}
	l.warn(path.Join(dir, e.Name()), "it is a %s, not a regular file", kind(e.Type()))
}

func (l *lister) below(ctx context.Context, e fs.DirEntry, abs, rel string, parent uint32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.Type() == fs.ModeSymlink {
		return l.link(ctx, e.Name(), abs, rel, parent)
	}
	if l.excluded(abs) {
		return nil
	}
	return l.dir(ctx, abs, rel, l.addDir(parent, e.Name()))
}

func (l *lister) excluded(abs string) bool {
	return slices.ContainsFunc(l.exclude, func(ex string) bool { return within(ex, abs) })
}

// link adds a link that stays in the tree, else what it leads to.
func (l *lister) link(ctx context.Context, name, abs, rel string, parent uint32) error {
	target, err := os.Readlink(abs)
	if err != nil {
		return unreadable(rel, err)
	}
	last := l.bases[len(l.bases)-1]
	if kept, ok := stays(filepath.ToSlash(target), depth(rel)-depth(path.Join(last.rel, "x"))); ok && !filepath.IsAbs(target) {
		l.targets[l.add(parent, name, listedLink)] = kept
		return nil
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		l.warn(rel, "it is a broken symlink to %q", target)
		return nil
	}
	if err != nil {
		return unreadable(rel, err)
	}
	if l.excluded(real) {
		return nil
	}
	for _, b := range l.bases {
		if within(b.real, real) {
			below := filepath.ToSlash(strings.TrimPrefix(real, b.real))
			l.targets[l.add(parent, name, listedLink)] = relative(path.Dir(rel), path.Join(b.rel, below))
			return nil
		}
	}
	return l.follow(ctx, name, real, rel, parent)
}

// follow adds what a link out of the tree leads to.
func (l *lister) follow(ctx context.Context, name, real, rel string, parent uint32) error {
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return unreadable(rel, err)
	case info.Mode().IsRegular():
		l.add(parent, name, followedFile)
		return nil
	case !info.IsDir():
		l.warn(rel, "it is a %s, not a regular file", kind(info.Mode()))
		return nil
	case len(l.bases) > maxBases:
		l.warn(rel, "it is a link in too many directories that are links")
		return nil
	}
	number := l.addDir(parent, name)
	l.elsewhere[number] = real
	l.bases = append(l.bases, base{real: real, rel: rel})
	defer func() { l.bases = l.bases[:len(l.bases)-1] }()
	return l.dir(ctx, real, rel, number)
}

// depth returns how many directories a path is below the root.
func depth(rel string) int { return strings.Count(rel, "/") }

// stays returns the target of a link in its shortest form, and whether the link stays in
// its tree, if it is that many directories deep. A target with ".." after a name may lead
// anywhere, since the name may be a link.
func stays(target string, deep int) (string, bool) {
	var short []string
	for _, part := range strings.Split(target, "/") {
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && len(short) > 0 && short[len(short)-1] != "..":
			return "", false
		case part == "..":
			deep--
		}
		short = append(short, part)
	}
	if len(short) == 0 {
		return ".", true
	}
	return strings.Join(short, "/"), deep >= 0
}

// relative returns the way from a directory to a path, both relative to the root.
func relative(dir, to string) string {
	way, _ := filepath.Rel(filepath.Join("/", dir), filepath.Join("/", to)) // there is one between absolute paths
	return filepath.ToSlash(way)
}
