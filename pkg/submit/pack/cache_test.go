package pack

import (
	"bytes"
	"crypto/sha256"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func sample() segment {
	return segment{
		Last:  math.MaxUint64,
		Files: map[string]knownFile{"a.py": {Stamp: stamp{Size: 1, MTime: 2, CTime: 3, Inode: 4}, Digest: digest{5}, Parts: []digest{{6}}}},
		Packs: map[digest]knownPack{{6}: {Digest: digest{7}, Size: 8, Stored: true}},
	}
}

// write makes a cache of these segments, and returns its file.
func writeCache(t *testing.T, dir, root string, segments ...segment) string {
	t.Helper()
	c := openCache(dir, "pack", root)
	for _, s := range segments {
		c.upTo(s.Last)
		if err := c.put(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	return c.name
}

// readCache returns the segments of a cache.
func readCache(t *testing.T, dir, root string) known {
	t.Helper()
	c := openCache(dir, "pack", root)
	all := c.upTo(math.MaxUint64)
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	return all
}

func sameSegments(t *testing.T, got known, want ...segment) {
	t.Helper()
	if !slices.EqualFunc(got, want, segment.equal) {
		t.Errorf("the cache holds %+v, want %+v", got, want)
	}
}

func TestCacheDir(t *testing.T) {
	for want, in := range map[string][2]string{
		"/x/kinetic":        {"/x", "/home/me"},
		"/h/.cache/kinetic": {"relative", "/h"},
		"/g/.cache/kinetic": {"", "/g"},
		"":                  {"", ""},
	} {
		if got := CacheDir(in[0], in[1]); got != filepath.FromSlash(want) {
			t.Errorf("CacheDir(%q, %q) = %q, want %q", in[0], in[1], got, want)
		}
	}
}

// Whatever is wrong with a cache, it is as if there were none.
func TestUselessCaches(t *testing.T) {
	const root = "/r"
	dir := t.TempDir()
	name := writeCache(t, dir, root, sample())
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sameSegments(t, readCache(t, dir, root), sample())
	sameSegments(t, readCache(t, dir, "/other"))
	flip := func(at int) []byte {
		data := bytes.Clone(good)
		data[at] ^= 1
		return data
	}
	garbage := []byte("not what gob writes")
	check := sha256.Sum256(garbage)
	for name, data := range map[string][]byte{
		"empty":           {},
		"cut short":       good[:len(good)/2],
		"cut in a header": good[:7],
		"a flipped bit":   flip(len(good) - 5),
		"another version": flip(0),
		"a huge segment":  flip(sha256.Size),
		"no gob at all":   slices.Concat(good[:sha256.Size], []byte{0, 0, 0, 0, 0, 0, 0, 51}, check[:], garbage),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := openCache(dir, "pack", root)
			if err := os.WriteFile(c.name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			sameSegments(t, readCache(t, dir, root))
			writeCache(t, dir, root, sample())
			sameSegments(t, readCache(t, dir, root), sample())
		})
	}
}

// part is a segment that ends with last.
func part(last uint64, file string) segment {
	return segment{Last: last, Files: map[string]knownFile{file: {Digest: digest{1}}}, Packs: map[digest]knownPack{}}
}

func TestSegments(t *testing.T) {
	const end = math.MaxUint64
	for name, tt := range map[string]struct{ old, put, want []segment }{
		"the same":       {[]segment{part(10, "a"), part(end, "b")}, []segment{part(10, "a"), part(end, "b")}, []segment{part(10, "a"), part(end, "b")}},
		"one is new":     {[]segment{part(10, "a"), part(end, "b")}, []segment{part(10, "a"), part(end, "c")}, []segment{part(10, "a"), part(end, "c")}},
		"the first is":   {[]segment{part(10, "a"), part(end, "b")}, []segment{part(10, "x"), part(end, "b")}, []segment{part(10, "x"), part(end, "b")}},
		"divided":        {[]segment{part(end, "a")}, []segment{part(10, "a"), part(end, "b")}, []segment{part(10, "a"), part(end, "b")}},
		"joined":         {[]segment{part(10, "a"), part(end, "b")}, []segment{part(end, "c")}, []segment{part(end, "c")}},
		"interrupted":    {[]segment{part(10, "a"), part(20, "b"), part(end, "c")}, []segment{part(10, "x")}, []segment{part(10, "x"), part(20, "b"), part(end, "c")}},
		"and divided":    {[]segment{part(20, "a"), part(end, "c")}, []segment{part(10, "x")}, []segment{part(10, "x"), part(20, "a"), part(end, "c")}},
		"none before":    {nil, []segment{part(10, "x")}, []segment{part(10, "x")}},
		"nothing is new": {[]segment{part(10, "a")}, nil, []segment{part(10, "a")}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeCache(t, dir, "/r", tt.old...)
			writeCache(t, dir, "/r", tt.put...)
			sameSegments(t, readCache(t, dir, "/r"), tt.want...)
			if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 1 {
				t.Errorf("files in the cache: %q, %v; want one", names, err)
			}
		})
	}
}

// A cache in which nothing is new is not written.
func TestSameCacheStays(t *testing.T) {
	dir := t.TempDir()
	name := writeCache(t, dir, "/r", part(10, "a"), sample())
	before, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	writeCache(t, dir, "/r", part(10, "a"), sample())
	if after, err := os.Stat(name); err != nil || !os.SameFile(before, after) {
		t.Errorf("it was replaced, %v", err)
	}
}

// A cache that cannot be written, or read, makes nothing fail.
func TestCacheInAnImpossiblePlace(t *testing.T) {
	root := t.TempDir()
	obstacle := filepath.Join(t.TempDir(), "file")
	for _, file := range []string{obstacle, filepath.Join(root, "a.py")} {
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := New(t.Context(), Options{Root: root, CacheDir: filepath.Join(obstacle, "kinetic")})
	if err != nil || len(p.Index.Files) != 1 {
		t.Errorf("New: %v, %v; want one file", p, err)
	}
}

// What New finds with a cache is what it finds without, and the second time it
// compresses nothing.
func TestPacksAreRemembered(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.py"), []byte(strings.Repeat("x = 1\n", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	var sums []string
	for range 3 {
		p, err := New(t.Context(), Options{Root: root, CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if made := p.sources[0].blob != nil; made != (len(sums) == 0) {
			t.Errorf("plan %d: compressed %v", len(sums), made)
		}
		sums = append(sums, p.SHA256)
	}
	p, err := New(t.Context(), Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	for i, sum := range sums {
		if sum != p.SHA256 {
			t.Errorf("plan %d with the cache is %s, without it %s", i, sum, p.SHA256)
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 1 {
		t.Errorf("files in the cache: %q, %v; want one a root and no leftovers", names, err)
	}
}

func FuzzDecodeSegment(f *testing.F) {
	good, err := encodeSegment(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good[sha256.Size:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		check := sha256.Sum256(body)
		s, err := decodeSegment(append(check[:], body...)) // must not panic
		if err == nil && bytes.Equal(body, good[sha256.Size:]) && len(s.Files) != 1 {
			t.Errorf("decoded %v", s)
		}
		if _, err := decodeSegment(body); err == nil && len(body) < sha256.Size {
			t.Error("a segment without a checksum was accepted")
		}
	})
}
