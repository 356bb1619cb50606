package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestExplain(t *testing.T) {
	s := &fileStore{dir: "/s"}
	for want, tt := range map[string]struct {
		err      error
		unusable bool
	}{
		"no space left for the store /s: write /s/x: ":          {&fs.PathError{Op: "write", Path: "/s/x", Err: syscall.ENOSPC}, false},
		"no space left for the store /s: disk quota exceeded":   {syscall.EDQUOT, false},
		"the store /s is not writable: mkdir /s: ":              {&fs.PathError{Op: "mkdir", Path: "/s", Err: syscall.EACCES}, true},
		"the store /s is not writable: read-only file system":   {syscall.EROFS, true},
		"the store /s has a file where a directory is needed: ": {&os.LinkError{Op: "link", Old: "a", New: "b", Err: syscall.ENOTDIR}, true},
		"the store /s can't be created: mkdir /s: ":             {&fs.PathError{Op: "mkdir", Path: "/s", Err: syscall.ENOENT}, true},
	} {
		got := s.explain(tt.err)
		if !errors.Is(got, tt.err) || !strings.HasPrefix(got.Error(), want) || !strings.HasSuffix(got.Error(), "with --store or KINETIC_STORE") {
			t.Errorf("explain(%v) = %q, want %q and what to do", tt.err, got, want)
		}
		if errors.Is(got, ErrUnusable) != tt.unusable {
			t.Errorf("explain(%v) is ErrUnusable: %v", tt.err, !tt.unusable)
		}
	}
	if other := errors.New("other"); !errors.Is(s.explain(other), other) || s.explain(other).Error() != "other" {
		t.Error("an error that needs no explanation was changed")
	}
}

func TestUnwritableStore(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	s := &fileStore{dir: dir}
	err := s.Create(t.Context(), "job/x", strings.NewReader("x"), nil)
	if err == nil || !strings.Contains(err.Error(), "the store "+dir+" is not writable") {
		t.Errorf("error %v, want one that says the store is not writable", err)
	}
}

func TestStoreBelowAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := &fileStore{dir: filepath.Join(file, "store")}
	err := s.Create(t.Context(), "job/x", strings.NewReader("x"), nil)
	if err == nil || !strings.Contains(err.Error(), "has a file where a directory is needed") {
		t.Errorf("error %v, want one that names the obstacle", err)
	}
}

func TestStaleTempFilesAreRemoved(t *testing.T) {
	s := &fileStore{dir: t.TempDir()}
	dir := filepath.Join(s.dir, tempDir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"stale": staleAfter + time.Hour, "fresh": staleAfter - time.Hour} {
		file := filepath.Join(dir, name)
		when := time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Create(t.Context(), "job/x", strings.NewReader("x"), nil); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "fresh" {
		t.Errorf("left: %v, %v; want fresh alone", entries, err)
	}
}
