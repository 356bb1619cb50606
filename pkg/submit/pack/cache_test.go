package pack

import (
	"bytes"
	"crypto/sha256"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func sample() known {
	return known{
		Files: map[string]knownFile{"a.py": {Stamp: stamp{Size: 1, MTime: 2, CTime: 3, Inode: 4}, Digest: digest{5}, Parts: []digest{{6}}}},
		Packs: map[digest]knownPack{{6}: {Digest: digest{7}, Size: 8, Stored: true}},
	}
}

// newSample returns a cache that holds the sample.
func newSample(dir, root string) cache {
	c := newCache(dir, "pack", root, math.MaxUint64)
	c.store(known{}, sample())
	return c
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
	c := newSample(t.TempDir(), root)
	good, err := os.ReadFile(c.path)
	if err != nil {
		t.Fatal(err)
	}
	flip := func(at int) []byte {
		data := bytes.Clone(good)
		data[at] ^= 1
		return data
	}
	garbage := []byte("not what gob writes")
	check := c.check(garbage)
	other := c
	other.header = []byte("another version")
	old, err := other.encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty":             {},
		"cut short":         good[:len(good)/2],
		"cut in a checksum": good[:7],
		"a flipped bit":     flip(len(good) - 5),
		"another checksum":  flip(0),
		"another version":   old,
		"no gob at all":     slices.Concat(check[:], garbage),
	} {
		t.Run(name, func(t *testing.T) {
			c := newCache(t.TempDir(), "pack", root, math.MaxUint64)
			if err := os.WriteFile(c.path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			got := c.load()
			if !got.equal(known{}) {
				t.Errorf("the cache holds %+v", got)
			}
			if c.store(got, sample()); !c.load().equal(sample()) {
				t.Errorf("then it holds %+v", c.load())
			}
		})
	}
}

// Each kind, root and range has a file. Those of ranges that are gone can be removed.
func TestFilesOfCaches(t *testing.T) {
	dir := t.TempDir()
	kept, gone := newSample(dir, "/r"), newCache(dir, "pack", "/r", 10)
	others := []cache{newSample(dir, "/other"), newCache(dir, "data", "/r", math.MaxUint64)}
	for _, c := range append(others, gone) {
		c.store(known{}, sample())
	}
	removeOthers([]cache{kept})
	for _, c := range append(others, kept) {
		if !c.load().equal(sample()) {
			t.Errorf("%s holds %+v", c.path, c.load())
		}
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 3 {
		t.Errorf("files in the cache: %q, %v; want three", names, err)
	}
	removeOthers([]cache{{}}) // without a cache
}

// A cache in which nothing is new is not written.
func TestSameCacheStays(t *testing.T) {
	c := newSample(t.TempDir(), "/r")
	before, err := os.Stat(c.path)
	if err != nil {
		t.Fatal(err)
	}
	c.store(c.load(), sample())
	if after, err := os.Stat(c.path); err != nil || !os.SameFile(before, after) {
		t.Errorf("it was replaced, %v", err)
	}
}

// A cache is written again when hashing what it lacks would take longer.
func TestLearned(t *testing.T) {
	edited := func(size int64) file { return file{stamp: stamp{Size: size}, settled: true} }
	cached := file{stamp: stamp{Size: 1 << 20}, settled: true, known: true}
	for name, tt := range map[string]struct {
		cached  int // files
		files   []file
		sources []source
		want    bool
	}{
		"nothing":           {0, nil, nil, false},
		"a first file":      {0, []file{edited(0)}, nil, true},
		"no edit":           {200, []file{cached}, []source{{packed: true, known: true, members: []int{0}}}, false},
		"an edit":           {200, []file{cached, edited(100), edited(100)}, nil, false},
		"many edits":        {200, []file{edited(100), edited(100), edited(100)}, nil, true},
		"a large edit":      {200, []file{edited(6401)}, nil, true},
		"a small pack":      {200, []file{edited(100)}, []source{{packed: true, members: []int{0}}}, false},
		"a large pack":      {200, []file{cached, edited(100)}, []source{{packed: true, members: []int{0, 1}}}, true},
		"a pack of many":    {200, []file{cached, {settled: true, known: true}}, []source{{packed: true, members: slices.Repeat([]int{1}, 26)}}, true},
		"a pack of few":     {200, []file{cached, {settled: true, known: true}}, []source{{packed: true, members: slices.Repeat([]int{1}, 25)}}, false},
		"a file by itself":  {200, []file{cached}, []source{{members: []int{0}}}, false},
		"still written to":  {200, []file{{stamp: stamp{Size: 1 << 20}}}, nil, false},
		"a large in 30,000": {30_000, []file{edited(1 << 19)}, []source{{packed: true, members: []int{0}}}, true},
		"a small in 30,000": {30_000, []file{edited(1 << 18)}, []source{{packed: true, members: []int{0}}}, false},
	} {
		known := known{Files: map[string]knownFile{}}
		for i := range tt.cached {
			known.Files[strconv.Itoa(i)] = knownFile{}
		}
		if got := (&Plan{files: tt.files}).learned(known, tt.sources); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
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

func FuzzDecode(f *testing.F) {
	var c cache
	good, err := c.encode(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good[sha256.Size:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		check := c.check(body)
		k, err := c.decode(append(check[:], body...)) // must not panic
		if err == nil && bytes.Equal(body, good[sha256.Size:]) && len(k.Files) != 1 {
			t.Errorf("decoded %v", k)
		}
		if _, err := c.decode(body); err == nil && len(body) < sha256.Size {
			t.Error("a cache without a checksum was accepted")
		}
	})
}
