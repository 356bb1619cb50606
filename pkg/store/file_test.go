package store_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

func create(t *testing.T, s store.Store, name, text string) {
	t.Helper()
	if err := s.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
		t.Fatalf("Create(%q): %v", name, err)
	}
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

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// opener yields text and counts how often it was asked.
func opener(text string, calls *int) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		*calls++
		return io.NopCloser(strings.NewReader(text)), nil
	}
}

func TestOpenFile(t *testing.T) {
	for url, want := range map[string]struct{ url, err string }{
		"file:///tmp/x":      {url: "file:///tmp/x"},
		"file:///tmp//x/../": {url: "file:///tmp"},
		"file:///tmp/a b%20": {url: "file:///tmp/a b%20"},
		"gs://bucket":        {err: `store "gs://bucket": want file:///an/absolute/directory`},
		"/tmp/x":             {err: "want file:///an/absolute/directory"},
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
	if _, err := s.List(t.Context(), "../"); err == nil {
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

func TestCreate(t *testing.T) {
	s, dir := openStore(t)
	create(t, s, "job/handle.json", "one")
	err := s.Create(t.Context(), "job/handle.json", strings.NewReader("two"), nil)
	if !errors.Is(err, store.ErrExists) || !strings.Contains(err.Error(), s.URL()+"/job/handle.json already exists") {
		t.Errorf("second Create: error %v, want ErrExists with the full name", err)
	}
	r, err := s.Open(t.Context(), "job/handle.json")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, _ := io.ReadAll(r); string(got) != "one" {
		t.Errorf("read %q, want the first object", got)
	}
	if diff := cmp.Diff([]string{"job/handle.json"}, files(t, dir)); diff != "" {
		t.Errorf("files in the store (-want +got):\n%s", diff)
	}
}

func TestCreateHasOneWinner(t *testing.T) {
	s, _ := openStore(t)
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		wg.Go(func() { errs[i] = s.Create(t.Context(), "job/end.json", strings.NewReader(fmt.Sprint(i)), nil) })
	}
	wg.Wait()
	var winners int
	for i, err := range errs {
		switch {
		case err == nil:
			winners++
		case !errors.Is(err, store.ErrExists):
			t.Errorf("Create %d: %v", i, err)
		}
	}
	if winners != 1 {
		t.Errorf("%d of %d succeeded, want 1", winners, len(errs))
	}
}

func TestFailedWritesLeaveNothing(t *testing.T) {
	broken := errors.New("the source broke")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	reader := func() io.Reader { return io.MultiReader(strings.NewReader("abc"), &failing{broken}) }
	for name, write := range map[string]struct {
		do   func(s store.Store) error
		want error
	}{
		"Create, reader fails": {want: broken, do: func(s store.Store) error { return s.Create(t.Context(), "j/a", reader(), nil) }},
		"Create, cancelled":    {want: context.Canceled, do: func(s store.Store) error { return s.Create(cancelled, "j/a", strings.NewReader("abc"), nil) }},
		"PutBlob, open fails": {want: broken, do: func(s store.Store) error {
			_, err := s.PutBlob(t.Context(), hash("abc"), 3, func() (io.ReadCloser, error) { return nil, broken })
			return err
		}},
		"PutBlob, reader fails": {want: broken, do: func(s store.Store) error {
			_, err := s.PutBlob(t.Context(), hash("abc"), 3, func() (io.ReadCloser, error) { return io.NopCloser(&failing{broken}), nil })
			return err
		}},
		"PutBlob, other bytes":   {want: store.ErrMismatch, do: putBlob(t, "abc", "abd")},
		"PutBlob, too few bytes": {want: store.ErrMismatch, do: putBlob(t, "abc", "ab")},
		"PutBlob, too many":      {want: store.ErrMismatch, do: putBlob(t, "abc", "abcd")},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := openStore(t)
			if err := write.do(s); !errors.Is(err, write.want) {
				t.Errorf("error %v, want %v", err, write.want)
			}
			if left := files(t, dir); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func putBlob(t *testing.T, promised, got string) func(store.Store) error {
	return func(s store.Store) error {
		var calls int
		_, err := s.PutBlob(t.Context(), hash(promised), int64(len(promised)), opener(got, &calls))
		return err
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func TestPutBlobWritesOnlyWhatIsMissing(t *testing.T) {
	s, dir := openStore(t)
	file := filepath.Join(dir, filepath.FromSlash(store.Blob(hash("abc"))))
	for _, step := range []struct {
		name    string
		prepare func() error
		written bool
	}{
		{"missing", func() error { return nil }, true},
		{"there", func() error { return nil }, false},
		{"cut short by a crash", func() error { return os.Truncate(file, 0) }, true},
		{"there again", func() error { return nil }, false},
	} {
		if err := step.prepare(); err != nil {
			t.Fatal(err)
		}
		var calls int
		written, err := s.PutBlob(t.Context(), hash("abc"), 3, opener("abc", &calls))
		if err != nil || written != step.written || (calls == 1) != step.written {
			t.Errorf("%s: written %v, open called %d times, error %v; want written %v", step.name, written, calls, err, step.written)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != "abc" {
			t.Errorf("%s: the blob is %q, %v", step.name, got, err)
		}
	}
}

func TestPutBlobFromManySides(t *testing.T) {
	_, dir := openStore(t)
	text := strings.Repeat("weights", 100_000)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := store.OpenFile("file://" + dir) // as another process would
			if err == nil {
				err = putBlob(t, text, text)(s)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff([]string{store.Blob(hash(text))}, files(t, dir)); diff != "" {
		t.Errorf("files in the store (-want +got):\n%s", diff)
	}
}

func TestOpenMissing(t *testing.T) {
	s, _ := openStore(t)
	missing := func(name string) {
		t.Helper()
		_, err := s.Open(t.Context(), name)
		if !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), s.URL()+"/"+name) {
			t.Errorf("Open(%q): error %v, want ErrNotFound with the full name", name, err)
		}
	}
	missing("job/result.json") // there is no store yet
	create(t, s, "job/handle.json", "x")
	missing("job/result.json")
	missing("job") // a directory is no object
}

func TestList(t *testing.T) {
	s, dir := openStore(t)
	if got, err := s.List(t.Context(), ""); err != nil || len(got) > 0 {
		t.Fatalf("a store without a directory: %v, %v; want nothing", got, err)
	}
	for _, name := range []string{"a/x", "a-b/handle.json", "a/logs/0/1-1.log", "a/logs/0/1-10.log", "a/logs/0/1-2.log", "a/logs2/x", "b/outputs/.tmp/x"} {
		create(t, s, name, name)
	}
	if err := os.WriteFile(filepath.Join(dir, ".tmp", "12345"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string][]string{
		"":            {"a-b/handle.json", "a/logs/0/1-1.log", "a/logs/0/1-10.log", "a/logs/0/1-2.log", "a/logs2/x", "a/x", "b/outputs/.tmp/x"},
		"a/logs/":     {"a/logs/0/1-1.log", "a/logs/0/1-10.log", "a/logs/0/1-2.log"},
		"a/logs/0/1-": {"a/logs/0/1-1.log", "a/logs/0/1-10.log", "a/logs/0/1-2.log"},
		"a/log":       {"a/logs/0/1-1.log", "a/logs/0/1-10.log", "a/logs/0/1-2.log", "a/logs2/x"},
		"a":           {"a-b/handle.json", "a/logs/0/1-1.log", "a/logs/0/1-10.log", "a/logs/0/1-2.log", "a/logs2/x", "a/x"},
		"a/x":         {"a/x"},
		"a/x/":        nil,
		"c/":          nil,
	} {
		objects, err := s.List(t.Context(), prefix)
		if err != nil {
			t.Errorf("List(%q): %v", prefix, err)
		}
		var got []string
		for _, o := range objects {
			got = append(got, o.Name)
			if o.Size != int64(len(o.Name)) || o.Updated.IsZero() {
				t.Errorf("List(%q): %+v, want size %d and a time", prefix, o, len(o.Name))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("List(%q) (-want +got):\n%s", prefix, diff)
		}
	}
	dirs, err := s.Dirs(t.Context())
	if diff := cmp.Diff([]string{"a", "a-b", "b"}, dirs); diff != "" || err != nil {
		t.Errorf("Dirs(): %v (-want +got):\n%s", err, diff)
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
	objects, err := s.List(t.Context(), "")
	if err != nil || len(objects) != 1 || objects[0].Name != "job/x" {
		t.Errorf("List: %v, %v; want job/x", objects, err)
	}
}

func TestDelete(t *testing.T) {
	s, dir := openStore(t)
	if err := s.Delete(t.Context(), "job/x"); err != nil {
		t.Fatalf("before the store exists: %v", err)
	}
	create(t, s, "job/logs/0/1-1.log", "x")
	create(t, s, "job/handle.json", "x")
	for _, name := range []string{"job", "job/logs"} { // directories are no objects
		if err := s.Delete(t.Context(), name); err != nil {
			t.Errorf("Delete(%q): %v", name, err)
		}
	}
	if diff := cmp.Diff([]string{"job/handle.json", "job/logs/0/1-1.log"}, files(t, dir)); diff != "" {
		t.Fatalf("after deleting directories (-want +got):\n%s", diff)
	}
	if err := s.Delete(t.Context(), "job/logs/0/1-1.log"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "job", "logs")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the empty directory job/logs: %v, want it gone", err)
	}
	if err := s.Delete(t.Context(), "job/handle.json"); err != nil {
		t.Fatal(err)
	}
	if dirs, err := s.Dirs(t.Context()); err != nil || len(dirs) > 0 {
		t.Errorf("Dirs() = %q, %v; want none", dirs, err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("the store itself: %v", err)
	}
}

func TestDeleteDoesNotDisturbCreate(t *testing.T) {
	s, _ := openStore(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				name := fmt.Sprintf("job/logs/%d", i)
				if err := s.Create(t.Context(), name, strings.NewReader("x"), nil); err != nil {
					t.Error(err)
				}
				if err := s.Delete(t.Context(), name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
