package pack_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

func set(t testing.TB, opts pack.Options) *pack.Set {
	t.Helper()
	s, err := pack.NewSet(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func uploadSet(t testing.TB, set *pack.Set, s store.Store) pack.Stats {
	t.Helper()
	stats, err := set.Upload(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// fetchSet reads a data set back: files with their modes, links with an arrow, and empty
// directories with a slash.
func fetchSet(t testing.TB, s store.Store, sum string) map[string]string {
	t.Helper()
	var document api.DataSet
	if err := json.Unmarshal(blob(t, s, sum), &document); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	var count int
	var bytes int64
	for _, shard := range document.Shards {
		files, index := unpack(t, s, shard.SHA256)
		name := func(text string) string {
			if index.Names != "base64" {
				return text
			}
			decoded, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			return string(decoded)
		}
		if len(files) != shard.Files {
			t.Errorf("a shard has %d files, its entry says %d", len(files), shard.Files)
		}
		for _, f := range index.Files {
			mode := f.Mode
			if mode == 0 {
				mode = api.Contract.Defaults.Mode
			}
			all[name(f.Path)] = fmt.Sprintf("%o %s", mode, files[f.Path])
			bytes += f.Size
		}
		count += len(files)
		for _, l := range index.Links {
			all[name(l.Path)] = "-> " + name(l.Target)
		}
		for _, dir := range index.Dirs {
			all[name(dir)+"/"] = ""
		}
	}
	if count != document.Files || bytes != document.Bytes {
		t.Errorf("%d files of %d bytes, the document says %d of %d", count, bytes, document.Files, document.Bytes)
	}
	return all
}

func TestSetRoundTrip(t *testing.T) {
	parent := t.TempDir()
	root := filepath.Join(parent, "data")
	write(t, root, map[string]string{
		"a.txt": "a", "d/run": "#!", "d/secret": "s", "d/e/deep": "x", "empty/": "", "half/empty/": "",
		".git/config": "kept", "__pycache__/x.pyc": "kept too", "back\\slash": "b", "not\xffutf8/f": "n",
		"d/up -> ../a.txt": "", "d/dots -> .././/a.txt": "", "here -> .": "", "d/top -> ..": "", "broken -> no/where": "", "chain -> d/up": "",
		"d/roundabout -> e/../secret": "", "out -> ../outside/o.txt": "", "tree -> ../outside": "",
	})
	write(t, filepath.Join(parent, "outside"), map[string]string{"o.txt": "o", "in/f": "f", "in/up -> ../o.txt": "", "in/away -> ../../data/a.txt": "", "gone -> ../nothing": ""})
	write(t, root, map[string]string{"d/absolute -> " + filepath.Join(root, "d", "e"): "", "nothing -> " + filepath.Join(parent, "nothing"): ""})
	for name, mode := range map[string]os.FileMode{"d/run": 0o755, "d/secret": 0o400, "d/e/deep": 0o4777} {
		if err := os.Chmod(filepath.Join(root, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	data := set(t, pack.Options{Root: root, CacheDir: t.TempDir()})
	s := openStore(t)
	stats := uploadSet(t, data, s)
	if stats.NewBytes != data.StoredBytes || stats.Bytes != data.StoredBytes {
		t.Errorf("%+v, want all of %d bytes", stats, data.StoredBytes)
	}
	want := map[string]string{
		"a.txt": "644 a", "d/run": "755 #!", "d/secret": "600 s", "d/e/deep": "777 x", "empty/": "", "half/empty/": "",
		".git/config": "644 kept", "__pycache__/x.pyc": "644 kept too", "back\\slash": "644 b", "not\xffutf8/f": "644 n",
		"d/up": "-> ../a.txt", "d/dots": "-> ../a.txt", "here": "-> .", "d/top": "-> ..", "broken": "-> no/where", "chain": "-> d/up",
		"d/roundabout": "-> secret", "out": "644 o", "d/absolute": "-> e",
		"tree/o.txt": "644 o", "tree/in/f": "644 f", "tree/in/up": "-> ../o.txt", "tree/in/away": "-> ../../a.txt",
	}
	if diff := cmp.Diff(want, fetchSet(t, s, data.SHA256)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	warnings := []string{
		fmt.Sprintf("skipped %q: it is a broken symlink to %q", "nothing", filepath.Join(parent, "nothing")),
		`skipped "tree/gone": it is a broken symlink to "../nothing"`,
	}
	if diff := cmp.Diff(warnings, data.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if again := uploadSet(t, data, s); again.NewBlobs != 0 {
		t.Errorf("%+v, want nothing new", again)
	}
}

// The hash below changes with the same as that of TestSameTreeSameBytes.
func TestSameDataSameHash(t *testing.T) {
	const want = "6aef0287c5956a4ee0f1e77482521119cade81c8204bba14cc402d9ec311e743"
	for _, name := range []string{"one", "another name"} {
		root := filepath.Join(t.TempDir(), name)
		write(t, root, map[string]string{"a/b.bin": strings.Repeat("ab", 1000), "c.txt": "c", "l -> a/b.bin": "", "absolute -> " + filepath.Join(root, "c.txt"): "", "e/": ""})
		randomFile(t, filepath.Join(root, "a", "random"), 7, 2<<20)
		for file, mode := range map[string]os.FileMode{"a/b.bin": 0o755, "c.txt": 0o640, "a/random": 0o600} {
			if err := os.Chmod(filepath.Join(root, file), mode); err != nil {
				t.Fatal(err)
			}
		}
		if got := set(t, pack.Options{Root: root, CacheDir: t.TempDir()}).SHA256; got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func TestSetOfOneFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"v3.h5": "weights", "latest.h5 -> v3.h5": "", "beside": "no"})
	for _, name := range []string{"v3.h5", "latest.h5"} {
		s := openStore(t)
		data := set(t, pack.Options{Root: filepath.Join(dir, name)})
		uploadSet(t, data, s)
		if diff := cmp.Diff(map[string]string{name: "644 weights"}, fetchSet(t, s, data.SHA256)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestEmptySet(t *testing.T) {
	s := openStore(t)
	data := set(t, pack.Options{Root: t.TempDir()})
	uploadSet(t, data, s)
	if got := fetchSet(t, s, data.SHA256); len(got) != 0 {
		t.Errorf("it has %v", got)
	}
}

func TestBadSets(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"loop -> loop": ""})
	for name, want := range map[string]string{"missing": "no such file", "loop": "too many links"} {
		_, err := pack.NewSet(t.Context(), pack.Options{Root: filepath.Join(dir, name)})
		if err == nil || !strings.Contains(err.Error(), "packaging "+filepath.Join(dir, name)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
}

// Directories that link to each other end.
func TestSetsThatLinkToEachOther(t *testing.T) {
	parent := t.TempDir()
	write(t, parent, map[string]string{"a/x": "x", "b/y": "y", "a/b -> " + filepath.Join(parent, "b"): "", "b/a -> " + filepath.Join(parent, "a"): "", "b/all -> ..": ""})
	s := openStore(t)
	data := set(t, pack.Options{Root: filepath.Join(parent, "a")})
	uploadSet(t, data, s)
	got := fetchSet(t, s, data.SHA256)
	if got["b/a"] != "-> .." || got["b/all/b"] != "" || got["b/all/a/x"] != "644 x" {
		t.Errorf("it has %v", got)
	}
}

// manyEntries makes more files than a shard holds.
func manyEntries(t testing.TB, root string) {
	t.Helper()
	for i := range 40_000 {
		dir := filepath.Join(root, fmt.Sprintf("d%03d", i%100))
		if i < 100 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d", i)), fmt.Appendf(nil, "file %d", i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestShards(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 40,000 files")
	}
	root := t.TempDir()
	manyEntries(t, root)
	opts := pack.Options{Root: root, CacheDir: t.TempDir()}
	data, s := set(t, opts), openStore(t)
	if len(data.Shards) != 2 || data.Files != 40_000 {
		t.Fatalf("%d files in %d shards, want 40,000 in 2", data.Files, len(data.Shards))
	}
	first := uploadSet(t, data, s)
	if first.NewBytes != data.StoredBytes {
		t.Errorf("%+v, want all of %d bytes", first, data.StoredBytes)
	}
	got := fetchSet(t, s, data.SHA256)
	if len(got) != 40_000 || got["d007/f4207"] != "644 file 4207" {
		t.Errorf("%d files", len(got))
	}
	interrupt(t, data, data.SHA256, first.NewBlobs, 3, first.NewBlobs) // the second shard, the document
	if again := set(t, opts); again.SHA256 != data.SHA256 {
		t.Error("with the cache it is another data set")
	}
	// One edit: its pack, its shard and the document.
	if err := os.WriteFile(filepath.Join(root, "d007", "f4207"), []byte("edited"), 0o644); err != nil {
		t.Fatal(err)
	}
	edited := set(t, opts)
	if stats := uploadSet(t, edited, s); stats.NewBlobs != 3 {
		t.Errorf("%+v after an edit, want 3 new blobs", stats)
	}
	old, changed := map[string]bool{}, 0
	for _, shard := range data.Shards {
		old[shard.SHA256] = true
	}
	for _, shard := range edited.Shards {
		if !old[shard.SHA256] {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d shards changed, want 1", changed)
	}
}

// A file that changes between the plan and the upload is named.
func TestSetThatChanges(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"d/small": "s"})
	randomFile(t, filepath.Join(root, "d", "large"), 1, 2<<20)
	data := set(t, pack.Options{Root: root})
	randomFile(t, filepath.Join(root, "d", "large"), 2, 2<<20)
	_, err := data.Upload(t.Context(), openStore(t), nil)
	fileError(t, err, "d/large", "it changed while it was being packaged: run again")
}

func TestInterruptIsNoFaultOfADirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a": "1"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := pack.NewSet(ctx, pack.Options{Root: dir})
	if file := (*pack.FileError)(nil); !errors.Is(err, context.Canceled) || errors.As(err, &file) {
		t.Errorf("error %v, want only that it was canceled", err)
	}
}

func TestSetProgress(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"a": "a"})
	randomFile(t, filepath.Join(root, "large"), 1, 2<<20)
	data, s := set(t, pack.Options{Root: root}), openStore(t)
	for _, state := range []string{"new", "known"} {
		var done int64
		_, err := data.Upload(t.Context(), s, func(more int64) {
			if more <= 0 {
				t.Errorf("%s: %d bytes after %d, want more", state, more, done)
			}
			done += more
		})
		if err != nil || done != data.StoredBytes {
			t.Errorf("%s: ended at %d of %d bytes, error %v", state, done, data.StoredBytes, err)
		}
	}
}

// young is a store that has the document for a short time, and nothing else.
type young struct{ store.Store }

func (young) HasBlob(_ context.Context, b api.IndexBlob) bool { return b.SHA256 != "" }

// Whoever finds the document finds the rest: nothing else is asked or read.
func TestSetThatIsThere(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"a": "a"})
	data := set(t, pack.Options{Root: root})
	s := openStore(t)
	if stats := uploadSet(t, data, young{s}); stats.NewBlobs != 0 || stats.Bytes != data.StoredBytes {
		t.Errorf("%+v", stats)
	}
	for o, err := range s.List(t.Context(), "", "") {
		t.Errorf("in the store: %v, %v; want nothing", o, err)
	}
}
