package pack_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

func TestRoundTrip(t *testing.T) {
	root := t.TempDir()
	want := map[string]string{
		"train.py":            "print('hello')\n",
		"empty.txt":           "",
		"pkg/__init__.py":     "",
		"pkg/a b\n'ü\".py":    "x = 1\n",
		"weights.bin":         strings.Repeat("w", 1<<20), // the smallest file that is a blob of its own
		"nearly.bin":          strings.Repeat("w", 1<<20-1),
		"copy/of/weights.bin": strings.Repeat("w", 1<<20),
		"run.sh":              "#!/bin/sh\n",
	}
	write(t, root, want)
	write(t, root, map[string]string{"outputs/deep/": ""})
	if err := os.Chmod(filepath.Join(root, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, s := plan(t, pack.Options{Root: root}), openStore(t)
	stats := upload(t, p, s)

	got, index := unpack(t, s, p.SHA256)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(p.Index, index); diff != "" {
		t.Errorf("the stored index is not the plan's (-plan +stored):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"outputs", "outputs/deep"}, index.Dirs); diff != "" {
		t.Errorf("empty directories (-want +got):\n%s", diff)
	}
	for _, f := range index.Files {
		if (f.Mode == 0o755) != (f.Path == "run.sh") || (f.Mode == 0) != (f.Path != "run.sh") {
			t.Errorf("%s: mode %o", f.Path, f.Mode)
		}
	}
	// One pack, one large file for both its names, and the index.
	if stats.NewBlobs != 3 || len(index.Blobs) != 2 || stats.NewBytes != p.StoredBytes || stats.Bytes != p.StoredBytes {
		t.Errorf("stats %+v with %d blobs and %d stored bytes, want 3 new objects and all bytes new", stats, len(index.Blobs), p.StoredBytes)
	}
	var bytes int64
	for _, text := range want {
		bytes += int64(len(text))
	}
	if p.Bytes != bytes {
		t.Errorf("Bytes = %d, want %d", p.Bytes, bytes)
	}
	if again := upload(t, p, s); again.NewBlobs != 0 || again.NewBytes != 0 || again.Bytes != stats.Bytes {
		t.Errorf("second upload: %+v, want nothing new", again)
	}
}

func TestEmptyRoot(t *testing.T) {
	p, s := plan(t, pack.Options{Root: t.TempDir()}), openStore(t)
	upload(t, p, s)
	files, index := unpack(t, s, p.SHA256)
	if len(files) != 0 || len(index.Blobs) != 0 {
		t.Errorf("an empty directory gives %v in %v", files, index.Blobs)
	}
}

// The hash below changes with the compressor, its level or the form of the
// index. Then everybody's next run uploads all packs again: say so in the
// release notes, and raise cacheVersion unless the compressor's version did.
func TestSameTreeSameBytes(t *testing.T) {
	const want = "59a66c058782524e06ad0f1d0fb856c4bd24b13054f166b94ed3fadb7b40d54e"
	names := []string{"b/c.py", "b.py", "a/z.py", "a-b/x.py", "b/a.py", "Ü.py", "empty/"}
	for seed := range uint64(5) {
		root := filepath.Join(t.TempDir(), strings.Repeat("x", int(seed)+1))
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			write(t, root, map[string]string{name: strings.Repeat(name, 100)})
			when := time.Unix(random.Int64N(1e9), random.Int64N(1e9))
			if err := os.Chtimes(filepath.Join(root, name), when, when); err != nil {
				t.Fatal(err)
			}
		}
		if p := plan(t, pack.Options{Root: root}); p.SHA256 != want {
			t.Errorf("order %d (%q): %s, want %s", seed, names, p.SHA256, want)
		}
	}
}

func TestOnlyChangesAreUploaded(t *testing.T) {
	root, cache := t.TempDir(), t.TempDir()
	sourceTree(t, root, 600)
	randomFile(t, filepath.Join(root, "weights.bin"), 1, 3<<20)
	s := openStore(t)
	opts := pack.Options{Root: root, CacheDir: cache}
	first := upload(t, plan(t, opts), s)
	file := filepath.Join(root, "src", "m7", "f7.py")
	for _, step := range []struct {
		name     string
		change   func() error
		maxBlobs int
	}{
		{"nothing", func() error { return nil }, 0},
		{"touched", func() error { return os.Chtimes(file, time.Time{}, time.Unix(1e9, 0)) }, 0},
		{"one line", func() error { return os.WriteFile(file, []byte("x = 1\n"), 0o644) }, 2},
		{"added", func() error { return os.WriteFile(file+".new", []byte("x = 2\n"), 0o644) }, 2},
		{"removed", func() error { return os.Remove(file) }, 2},
		{"executable", func() error { return os.Chmod(file+".new", 0o755) }, 1},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		stats := upload(t, plan(t, opts), s)
		if stats.NewBlobs > step.maxBlobs || (stats.NewBlobs == 0) != (step.maxBlobs == 0) || stats.NewBytes > first.NewBytes/4 {
			t.Errorf("%s: %+v after %+v, want at most %d new blobs with the index", step.name, stats, first, step.maxBlobs)
		}
	}
}

func TestBadRoot(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"file": "x"})
	for name, want := range map[string]string{"missing": "no such file", "file": "it is not a directory"} {
		root := filepath.Join(dir, name)
		_, err := pack.New(t.Context(), pack.Options{Root: root})
		if err == nil || !strings.Contains(err.Error(), "packaging "+root+": "+want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
}

// fileError checks that err is about the file, in the words of the user.
func fileError(t *testing.T, err error, path, words string) {
	t.Helper()
	var fileErr *pack.FileError
	if !errors.As(err, &fileErr) {
		t.Fatalf("error %v, want a FileError about %q", err, path)
	}
	if fileErr.Path != path || !strings.Contains(err.Error(), words) {
		t.Errorf("error %q about %q, want %q about %q", err, fileErr.Path, words, path)
	}
}
