package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// staleAfter is the age from which a half-written object counts as left behind by a
// killed process. No write takes that long.
const staleAfter = 7 * 24 * time.Hour

// tempFile is an object that is being written to a fileStore.
type tempFile struct {
	store *fileStore
	file  *os.File
}

// temp starts an object without a name.
func (s *fileStore) temp() (*tempFile, error) {
	dir := filepath.Join(s.dir, tempDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("preparing the store: %w", s.explain(err))
	}
	s.sweep.Do(func() { removeStale(dir, time.Now().Add(-staleAfter)) })
	f, err := os.CreateTemp(dir, "*")
	if err != nil {
		return nil, fmt.Errorf("preparing the store: %w", s.explain(err))
	}
	return &tempFile{store: s, file: f}, nil
}

// removeStale is housekeeping: it ignores errors.
func removeStale(dir string, before time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// fill copies r into the file. It passes on errors of r as they are, and explains the
// store's own.
func (t *tempFile) fill(ctx context.Context, r io.Reader) error {
	buf := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, readErr := r.Read(buf)
		if _, err := t.file.Write(buf[:n]); err != nil {
			return t.store.explain(err)
		}
		if errors.Is(readErr, io.EOF) {
			return nil
		}
		if readErr != nil {
			return readErr
		}
	}
}

// close closes the file; if sync is set, the bytes are on the disk then.
func (t *tempFile) close(sync bool) error {
	if sync {
		if err := t.file.Sync(); err != nil {
			return t.store.explain(err)
		}
	}
	// Network file systems report a full disk here.
	if err := t.file.Close(); err != nil {
		return t.store.explain(err)
	}
	return nil
}

// discard deletes the file, or its temporary name if it was linked.
func (t *tempFile) discard() {
	_ = t.file.Close()
	_ = os.Remove(t.file.Name())
}

// explain says what a failed write means and what to do about it.
func (s *fileStore) explain(err error) error {
	const other = "name another directory with --store or KINETIC_STORE"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("no space left for the store %s: %w: free some, or %s", s.dir, err, other)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return unusable(fmt.Sprintf("the store %s is not writable: %v: change its permissions, or %s", s.dir, err, other), err)
	case errors.Is(err, syscall.ENOTDIR):
		return unusable(fmt.Sprintf("the store %s has a file where a directory is needed: %v: move it away, or %s", s.dir, err, other), err)
	case errors.Is(err, fs.ErrNotExist): // a place where no directory can be made
		return unusable(fmt.Sprintf("the store %s can't be created: %v: %s", s.dir, err, other), err)
	default:
		return err
	}
}
