package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
)

// cacheVersion changes with the format of the cache and with what decides a pack's bytes:
// the compression level and the order of files.
const cacheVersion = 2

// cache holds what is known about one root. The whole file is rewritten when any of it
// changes, and holds what the last plan used.
type cache struct {
	Version    int
	Compressor string
	Root       string
	Files      map[string]knownFile // by file.rel
	Packs      map[digest]knownPack // by contents
}

// knownFile holds the digests of a file whose stamp had settled.
type knownFile struct {
	Stamp  stamp
	Digest digest
	Parts  []digest
}

// knownPack is a pack's digest and size as stored.
type knownPack struct {
	Digest digest
	Size   int64
	Stored bool
}

func (k knownFile) equal(other knownFile) bool {
	return k.Stamp == other.Stamp && k.Digest == other.Digest && slices.Equal(k.Parts, other.Parts)
}

// CacheDir returns the directory of the cache: kinetic in $XDG_CACHE_HOME, or in ~/.cache
// if that is not an absolute path; "" if there is no home directory either.
func CacheDir(xdgCacheHome, home string) string {
	switch {
	case filepath.IsAbs(xdgCacheHome):
		return filepath.Join(xdgCacheHome, "kinetic")
	case filepath.IsAbs(home):
		return filepath.Join(home, ".cache", "kinetic")
	default:
		return ""
	}
}

func cacheFile(dir, root string) string {
	name := sha256.Sum256([]byte(root))
	return filepath.Join(dir, "pack-"+hex.EncodeToString(name[:12]))
}

// newCache returns an empty cache.
func newCache(root string) cache {
	return cache{
		Version: cacheVersion, Compressor: compressorVersion(), Root: root,
		Files: map[string]knownFile{}, Packs: map[digest]knownPack{},
	}
}

// loadCache reads the cache of a root. If it is missing, damaged or of another version,
// loadCache returns an empty one.
func loadCache(dir, root string) cache {
	if dir == "" {
		return newCache(root)
	}
	data, err := os.ReadFile(cacheFile(dir, root))
	if err != nil {
		return newCache(root)
	}
	c, err := decodeCache(data)
	if empty := newCache(root); err != nil || c.Version != empty.Version || c.Compressor != empty.Compressor || c.Root != root {
		return empty
	}
	return c
}

// saveCache writes what the plan found out, if anything is new.
func saveCache(dir string, t *tree, sources []source, old cache) error {
	c := newCache(t.root)
	for _, f := range t.files {
		if f.settled {
			c.Files[f.rel] = knownFile{Stamp: f.stamp, Digest: f.digest, Parts: f.parts}
		}
	}
	for _, s := range sources {
		if s.packed {
			c.Packs[contents(t.files, s.members)] = knownPack{Digest: s.digest, Size: s.size, Stored: s.stored}
		}
	}
	if dir == "" || maps.EqualFunc(c.Files, old.Files, knownFile.equal) && maps.Equal(c.Packs, old.Packs) {
		return nil
	}
	data, err := encodeCache(c)
	if err != nil {
		return err
	}
	return replaceFile(cacheFile(dir, t.root), data)
}

// encodeCache puts a checksum in front, so that damaged data is never used.
func encodeCache(c cache) ([]byte, error) {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(c); err != nil {
		return nil, err
	}
	check := sha256.Sum256(body.Bytes())
	return append(check[:], body.Bytes()...), nil
}

func decodeCache(data []byte) (c cache, err error) {
	if len(data) < sha256.Size || sha256.Sum256(data[sha256.Size:]) != digest(data[:sha256.Size]) {
		return c, errors.New("damaged")
	}
	return c, gob.NewDecoder(bytes.NewReader(data[sha256.Size:])).Decode(&c)
}

// replaceFile writes a file atomically: other processes see the old file or the new one.
func replaceFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already if all went well
	_, err = io.Copy(f, bytes.NewReader(data))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// compressorVersion returns the version of the compression library, since another version
// may produce other bytes for the same pack; "" if the build doesn't say.
func compressorVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/klauspost/compress" {
			return dep.Version
		}
	}
	return ""
}
