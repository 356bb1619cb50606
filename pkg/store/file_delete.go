package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Delete also removes the directories that are left without any file.
func (s *fileStore) Delete(_ context.Context, name string) error {
	file, err := s.path(name)
	if err != nil {
		return err
	}
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		err = os.Remove(file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("deleting %s: %w", s.full(name), err)
	}
	s.tidy(file)
	return nil
}

// DeleteListed takes the object's name away before it looks at it: another process that
// renews it at this moment either changes its time before, or finds that it is gone.
func (s *fileStore) DeleteListed(_ context.Context, o Object) (bool, error) {
	file, err := s.path(o.Name)
	if err != nil {
		return false, err
	}
	aside, err := s.temp()
	if err != nil {
		return false, err
	}
	defer aside.discard()
	if err := aside.close(false); err != nil {
		return false, fmt.Errorf("deleting %s: %w", s.full(o.Name), err)
	}
	err = os.Rename(file, aside.file.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("deleting %s: %w", s.full(o.Name), err)
	}
	same, err := isListed(o, aside.file.Name(), file)
	if same {
		s.tidy(file)
		return true, nil
	}
	back := s.publish(os.Link, aside, file)
	if err = errors.Join(err, back); err != nil && !errors.Is(back, fs.ErrExist) {
		return false, fmt.Errorf("deleting %s: %w", s.full(o.Name), err)
	}
	return false, nil
}

// isListed reports whether an object that was moved aside from a file is the one that was listed. A relative link
// leads to its target only from where it was, and the target can be deleted already.
func isListed(o Object, aside, file string) (bool, error) {
	info, err := os.Lstat(aside)
	if err != nil {
		return false, err
	}
	if info.Mode().Type() != fs.ModeSymlink {
		return object(o.Name, aside, info).Generation == o.Generation, nil
	}
	target, err := os.Readlink(aside)
	if err != nil || target != o.Link {
		return false, err
	}
	if !filepath.IsAbs(target) {
		target = filepath.Dir(file) + string(filepath.Separator) + target // unlike Join, it keeps a/../b
	}
	now, err := os.Stat(target)
	return err != nil || !now.Mode().IsRegular() || now.ModTime().UnixNano() == o.Generation, nil
}

// Now returns this machine's time.
func (*fileStore) Now() time.Time { return time.Now() }

// tidy removes the directories that are left without any file after a deletion.
func (s *fileStore) tidy(file string) {
	for dir := filepath.Dir(file); dir != s.dir; dir = filepath.Dir(dir) {
		if !prune(dir) {
			break
		}
	}
}

// firstEntries is how many entries of a directory hasFile looks at.
const firstEntries = 16

// prune removes a directory without files in it or its subdirectories: a directory that a
// job made for outputs and never used is not an object.
func prune(dir string) bool {
	if os.Remove(dir) == nil {
		return true
	}
	if hasFile(dir) {
		return false
	}
	var dirs []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			return fs.ErrExist // one file is enough to know
		}
		dirs = append(dirs, path)
		return err
	})
	if err != nil {
		return false
	}
	for _, d := range slices.Backward(dirs) {
		if os.Remove(d) != nil {
			return false // written to meanwhile
		}
	}
	return true
}

// hasFile reports whether there is a file among the first entries of a directory. It does not read
// the others: the results of a map are many, and each is deleted by itself.
func hasFile(dir string) bool {
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	entries, err := d.ReadDir(firstEntries)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() })
}
