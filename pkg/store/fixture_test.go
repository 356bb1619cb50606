package store_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// place is where a store lies.
type place struct {
	// open opens it, as one more process would.
	open func() store.Store
	// holds lists all that is kept there, half-written things too.
	holds func() []string
}

// onEveryStore runs a test of what all stores have in common.
func onEveryStore(t *testing.T, test func(t *testing.T, p place)) {
	t.Helper()
	t.Run("file", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "a store")
		test(t, place{
			open:  func() store.Store { return openURL(t, "file://"+dir) },
			holds: func() []string { return files(t, dir) },
		})
	})
	t.Run("gs", func(t *testing.T) {
		b := newBucket(t)
		test(t, place{open: func() store.Store { return b.open(t) }, holds: func() []string { return b.holds(t) }})
	})
}

func create(t *testing.T, s store.Store, name, text string) {
	t.Helper()
	if err := s.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
		t.Fatalf("Create(%q): %v", name, err)
	}
}

// read reads a whole object.
func read(t *testing.T, s store.Store, name string) string {
	t.Helper()
	r, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatalf("Open(%q): %v", name, err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return string(data)
}

// list collects what a store lists.
func list(ctx context.Context, s store.Store, prefix, start string) (objects []store.Object, err error) {
	for o, err := range s.List(ctx, prefix, start) {
		if err != nil {
			return objects, err
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// names lists a store.
func names(t *testing.T, s store.Store, prefix string) []string {
	t.Helper()
	objects, err := list(t.Context(), s, prefix, "")
	if err != nil {
		t.Fatalf("List(%q): %v", prefix, err)
	}
	var names []string
	for _, o := range objects {
		names = append(names, o.Name)
	}
	return names
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

// putBlob promises one text and delivers another.
func putBlob(t *testing.T, promised, got string) func(store.Store) error {
	return func(s store.Store) error {
		var calls int
		_, err := s.PutBlob(t.Context(), hash(promised), int64(len(promised)), opener(got, &calls))
		return err
	}
}

// createLarge does the same for an object with a name.
func createLarge(t *testing.T, promised, got string) func(store.Store) error {
	t.Helper()
	return createLargeAs(t, "j/a", promised, got)
}

func createLargeAs(t *testing.T, name, promised, got string) func(store.Store) error {
	return func(s store.Store) error {
		var calls int
		return s.CreateLarge(t.Context(), name, hash(promised), int64(len(promised)), opener(got, &calls))
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }
