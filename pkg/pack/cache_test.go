package pack

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sampleCache(root string) cache {
	c := newCache(root)
	c.Files["a.py"] = knownFile{Stamp: stamp{Size: 1, MTime: 2, CTime: 3, Inode: 4}, Digest: digest{5}}
	c.Packs[digest{6}] = knownPack{Digest: digest{7}, Size: 8}
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
	encode := func(edit func(*cache)) []byte {
		c := sampleCache(root)
		edit(&c)
		data, err := encodeCache(c)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	good := encode(func(*cache) {})
	flipped := bytes.Clone(good)
	flipped[len(flipped)-5] ^= 1
	garbage := []byte("not what gob writes")
	check := sha256.Sum256(garbage)
	for name, data := range map[string][]byte{
		"empty":              {},
		"cut short":          good[:len(good)/2],
		"a flipped bit":      flipped,
		"another version":    encode(func(c *cache) { c.Version++ }),
		"another compressor": encode(func(c *cache) { c.Compressor += "x" }),
		"of another root":    encode(func(c *cache) { c.Root = "/other" }),
		"no gob at all":      append(check[:], garbage...),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(cacheFile(dir, root), data, 0o600); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(newCache(root), loadCache(dir, root)); diff != "" {
				t.Errorf("loaded (-want +got):\n%s", diff)
			}
		})
	}
	dir := t.TempDir()
	if err := os.WriteFile(cacheFile(dir, root), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sampleCache(root), loadCache(dir, root)); diff != "" {
		t.Errorf("a good cache (-want +got):\n%s", diff)
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

func FuzzDecodeCache(f *testing.F) {
	good, err := encodeCache(sampleCache("/r"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good[sha256.Size:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		check := sha256.Sum256(body)
		c, err := decodeCache(append(check[:], body...)) // must not panic
		if err == nil && bytes.Equal(body, good[sha256.Size:]) && len(c.Files) != 1 {
			t.Errorf("decoded %v", c)
		}
		if _, err := decodeCache(body); err == nil && len(body) < sha256.Size {
			t.Error("a cache without a checksum was accepted")
		}
	})
}
