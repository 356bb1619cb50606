package pack_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// largeTree is a file of two parts and some bytes, and one of exactly one part.
func largeTree(t testing.TB) (root string) {
	t.Helper()
	root = t.TempDir()
	randomFile(t, filepath.Join(root, "a", "large.bin"), 1, 2*api.Contract.Limits.Part+1000)
	randomFile(t, filepath.Join(root, "whole.bin"), 2, api.Contract.Limits.Part)
	return root
}

func TestParts(t *testing.T) {
	root, s := largeTree(t), openStore(t)
	opts := pack.Options{Root: root, CacheDir: t.TempDir()}
	p := plan(t, opts)
	upload(t, p, s)
	var sizes []int64
	for _, b := range p.Index.Blobs {
		sizes = append(sizes, b.Size)
	}
	if diff := cmp.Diff([]int64{api.Contract.Limits.Part, api.Contract.Limits.Part, 1000, api.Contract.Limits.Part}, sizes); diff != "" {
		t.Errorf("blobs (-want +got):\n%s", diff)
	}
	want := []api.IndexFile{
		{Path: "a/large.bin", Size: 2*api.Contract.Limits.Part + 1000, Parts: []int{0, 1, 2}},
		{Path: "whole.bin", Size: api.Contract.Limits.Part, Blob: 3},
	}
	if diff := cmp.Diff(want, p.Index.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, f := range p.Index.Files {
		sameBytes(t, s, p, f, filepath.Join(root, f.Path))
	}
	// What the cache remembers is the same, and a change in one part is one new blob.
	if again := plan(t, opts); again.SHA256 != p.SHA256 {
		t.Error("the cache makes another index")
	}
	patch(t, filepath.Join(root, "a", "large.bin"), api.Contract.Limits.Part+5)
	if stats := upload(t, plan(t, opts), s); stats.NewBlobs != 2 {
		t.Errorf("%+v after a change of one part, want that part and the index", stats)
	}
}

// sameBytes compares a file's blobs with the file, without reading either into memory.
func sameBytes(t testing.TB, s store.Store, p *pack.Plan, f api.IndexFile, file string) {
	t.Helper()
	numbers := f.Parts
	if len(numbers) == 0 {
		numbers = []int{f.Blob}
	}
	stored := sha256.New()
	for _, number := range numbers {
		r, err := s.Open(t.Context(), store.Blob(p.Index.Blobs[number].SHA256))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(stored, r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
	}
	want := sha256.New()
	r, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(want, r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored.Sum(nil), want.Sum(nil)) {
		t.Errorf("%s is not what is stored", f.Path)
	}
}

// patch changes one byte of a file.
func patch(t testing.TB, file string, offset int64) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte{'!'}, offset)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// Equal parts, as in a file full of zeros, are one blob.
func TestEqualParts(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"zeros": ""})
	if err := os.Truncate(filepath.Join(root, "zeros"), 3*api.Contract.Limits.Part+1); err != nil {
		t.Fatal(err)
	}
	p := plan(t, pack.Options{Root: root})
	want := []api.IndexFile{{Path: "zeros", Size: 3*api.Contract.Limits.Part + 1, Parts: []int{0, 0, 0, 1}}}
	if diff := cmp.Diff(want, p.Index.Files); diff != "" || len(p.Index.Blobs) != 2 {
		t.Errorf("%d blobs; files (-want +got):\n%s", len(p.Index.Blobs), diff)
	}
}

func TestPartsThatChange(t *testing.T) {
	for name, change := range map[string]func(file string) error{
		"cut short": func(file string) error { return os.Truncate(file, 2*api.Contract.Limits.Part) },
		"longer":    func(file string) error { return os.Truncate(file, 2*api.Contract.Limits.Part+1001) },
		"rewritten": func(file string) error {
			patch(t, file, api.Contract.Limits.Part)
			return nil
		},
		"deleted": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			root := largeTree(t)
			p := plan(t, pack.Options{Root: root})
			if err := change(filepath.Join(root, "a", "large.bin")); err != nil {
				t.Fatal(err)
			}
			_, err := p.Upload(t.Context(), openStore(t), nil)
			fileError(t, err, "a/large.bin", "it changed while it was being packaged: run again")
		})
	}
}

// A pack that compression doesn't make smaller is stored as it is.
func TestStoredPacks(t *testing.T) {
	random := t.TempDir()
	randomFile(t, filepath.Join(random, "a.jpg"), 1, 300_000)
	randomFile(t, filepath.Join(random, "b.jpg"), 2, 1000)
	text := t.TempDir()
	write(t, text, map[string]string{"a.py": strings.Repeat("x = 1\n", 1000), "b.py": "y = 2\n"})
	empty := t.TempDir()
	write(t, empty, map[string]string{"__init__.py": ""})
	for root, want := range map[string]string{random: "", text: "gzip", empty: "gzip"} {
		opts := pack.Options{Root: root, CacheDir: t.TempDir()}
		s := openStore(t)
		for range 2 { // compressed, and remembered
			p := plan(t, opts)
			if len(p.Index.Blobs) != 1 || p.Index.Blobs[0].Encoding != want {
				t.Errorf("blobs %+v, want one with encoding %q", p.Index.Blobs, want)
			}
			upload(t, p, s)
			files, _ := unpack(t, s, p.SHA256)
			for name, got := range files {
				if text, err := os.ReadFile(filepath.Join(root, name)); err != nil || !bytes.Equal(text, []byte(got)) {
					t.Errorf("%s is not what is stored, %v", name, err)
				}
			}
		}
	}
}
