package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// openStore is a store in a directory that does not exist yet.
func openStore(t *testing.T) (s store.Store, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "a store")
	s, err := store.OpenFile("file://" + dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

// files lists all regular files below dir, relative and in walk order.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			found = append(found, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

func TestOpenFile(t *testing.T) {
	for url, want := range map[string]struct{ url, err string }{
		"file:///tmp/x":      {url: "file:///tmp/x"},
		"file:///tmp//x/../": {url: "file:///tmp"},
		"file:///tmp/a b%20": {url: "file:///tmp/a b%20"},
		"gs://bucket":        {err: `store "gs://bucket": expected file:///an/absolute/directory`},
		"/tmp/x":             {err: "expected file:///an/absolute/directory"},
		"file://tmp/x":       {err: `"tmp/x" is not an absolute path`},
		"file://~/x":         {err: `"~/x" is not an absolute path`},
		"file://":            {err: "is not an absolute path"},
		"file:///":           {err: "the root directory cannot be a store"},
		"file:///x\x00":      {err: "is not an absolute path"},
	} {
		t.Run(url, func(t *testing.T) {
			s, err := store.OpenFile(url)
			if want.err != "" {
				if err == nil || !strings.Contains(err.Error(), want.err) {
					t.Fatalf("error %v, want one with %q", err, want.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s.URL() != want.url {
				t.Errorf("URL() = %q, want %q", s.URL(), want.url)
			}
		})
	}
}

func TestNoNameLeavesTheStore(t *testing.T) {
	s, dir := openStore(t)
	outside := filepath.Join(filepath.Dir(dir), "outside")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "/", "../outside", "job/../../outside", "/etc/passwd", "job//x", "job/", "./x", "job/.", ".tmp/x", "a\x00b"} {
		t.Run(name, func(t *testing.T) {
			errs := map[string]error{"Create": s.Create(t.Context(), name, strings.NewReader("x"), nil), "Delete": s.Delete(t.Context(), name)}
			_, errs["Open"] = s.Open(t.Context(), name)
			for method, err := range errs {
				if err == nil || !strings.Contains(err.Error(), "object name") {
					t.Errorf("%s: error %v, want one about the object name", method, err)
				}
			}
		})
	}
	if _, err := list(t.Context(), s, "../", ""); err == nil {
		t.Error("List(../): no error")
	}
	for _, name := range []string{"", "abc", "../../../outside", strings.Repeat("A", 64), strings.Repeat("0", 65)} {
		var calls int
		if _, err := s.PutBlob(t.Context(), name, 1, opener("x", &calls)); err == nil || calls != 0 {
			t.Errorf("PutBlob(%q): error %v after %d calls of open, want an error and none", name, err, calls)
		}
	}
	if got, err := os.ReadFile(outside); err != nil || string(got) != "mine" {
		t.Errorf("the file outside is %q, %v", got, err)
	}
}

func TestPutBlobReplacesWhatACrashCutShort(t *testing.T) {
	s, dir := openStore(t)
	file := filepath.Join(dir, filepath.FromSlash(store.Blob(hash("abc"))))
	for range 2 {
		var calls int
		if written, err := s.PutBlob(t.Context(), hash("abc"), 3, opener("abc", &calls)); err != nil || !written || calls != 1 {
			t.Errorf("written %v, open called %d times, error %v", written, calls, err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != "abc" {
			t.Errorf("the blob is %q, %v", got, err)
		}
		if err := os.Truncate(file, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHalfWrittenObjectsAreNotListed(t *testing.T) {
	s, dir := openStore(t)
	create(t, s, "job/.tmp/x", "an object of that name, further down")
	if err := os.WriteFile(filepath.Join(dir, ".tmp", "12345"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"job/.tmp/x"}, names(t, s, "")); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	if dirs, err := s.Dirs(t.Context(), ""); err != nil || len(dirs) != 1 {
		t.Errorf("Dirs() = %q, %v; want job alone", dirs, err)
	}
}

func TestStoreBehindASymlink(t *testing.T) {
	target, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	s, err := store.OpenFile("file://" + link)
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, "job/x", "text")
	objects, err := list(t.Context(), s, "", "")
	if err != nil || len(objects) != 1 || objects[0].Name != "job/x" {
		t.Errorf("List: %v, %v; want job/x", objects, err)
	}
}
