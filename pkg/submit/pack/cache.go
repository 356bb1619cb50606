package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// cacheVersion changes with the format of the cache and with what decides a pack's bytes:
// the compression level and the order of files.
const cacheVersion = 6

// known is what is known about the files of one root whose path hashes are in a range.
type known struct {
	Files map[string]knownFile // by file.rel
	Packs map[digest]knownPack // by contents
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

func (k known) equal(other known) bool {
	return maps.EqualFunc(k.Files, other.Files, knownFile.equal) && maps.Equal(k.Packs, other.Packs)
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

// cache is the file of what is known about one range of a root, which ends with a path hash.
type cache struct {
	path   string // "" if there is none
	header []byte // is checked, but not in the file
}

// lastDigits is how many digits end the name of a cache.
const lastDigits = 16

func newCache(dir, kind, root string, last uint64) cache {
	if dir == "" {
		return cache{}
	}
	name := sha256.Sum256([]byte(root))
	return cache{filepath.Join(dir, fmt.Sprintf("%s-%x-%0*x", kind, name[:12], lastDigits, last)),
		fmt.Appendf(nil, "%d %s %s\n", cacheVersion, compressorVersion(), root)}
}

// load returns what is known: nothing, if the file is missing, damaged or of another version.
func (c cache) load() known {
	data, err := os.ReadFile(c.path)
	if err != nil {
		return known{}
	}
	k, err := c.decode(data)
	if err != nil {
		return known{}
	}
	return k
}

// store replaces old by what is known now, unless it is the same. A cache that can't be written only costs time.
func (c cache) store(old, now known) {
	if c.path == "" || now.equal(old) {
		return
	}
	data, err := c.encode(now)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(c.path), 0o700)
	}
	if err != nil {
		return
	}
	temp, err := os.CreateTemp(filepath.Dir(c.path), filepath.Base(c.path)+".*")
	if err != nil {
		return
	}
	defer os.Remove(temp.Name()) // gone already if all went well
	_, err = temp.Write(data)
	if errors.Join(err, temp.Close()) == nil {
		_ = os.Rename(temp.Name(), c.path)
	}
}

// removeOthers removes the files of ranges that a root no longer has.
func removeOthers(caches []cache) {
	path := caches[0].path
	if path == "" {
		return
	}
	files, _ := os.ReadDir(filepath.Dir(path)) // none, if they can't be read
	prefix := filepath.Base(path[:len(path)-lastDigits])
	for _, f := range files {
		file := filepath.Join(filepath.Dir(path), f.Name())
		if strings.HasPrefix(f.Name(), prefix) && len(f.Name()) == len(prefix)+lastDigits && !slices.ContainsFunc(caches, func(c cache) bool { return c.path == file }) {
			_ = os.Remove(file)
		}
	}
}

// remember returns what a plan found out about a range.
func remember(files []file, sources []source) known {
	k := known{Files: make(map[string]knownFile, len(files)), Packs: map[digest]knownPack{}}
	for _, f := range files {
		if f.settled {
			k.Files[f.rel] = knownFile{Stamp: f.stamp, Digest: f.digest, Parts: f.parts}
		}
	}
	for _, p := range sources {
		if p.packed && p.size > 0 {
			k.Packs[contents(files, p.members)] = knownPack{Digest: p.digest, Size: p.size, Stored: p.stored}
		}
	}
	return k
}

// encode puts a checksum in front, so that damaged data is never used.
func (c cache) encode(k known) ([]byte, error) {
	body := bytes.NewBuffer(make([]byte, sha256.Size))
	err := gob.NewEncoder(body).Encode(columnsOf(k))
	check := c.check(body.Bytes()[sha256.Size:])
	copy(body.Bytes(), check[:])
	return body.Bytes(), err
}

func (c cache) decode(data []byte) (known, error) {
	if len(data) < sha256.Size || c.check(data[sha256.Size:]) != digest(data[:sha256.Size]) {
		return known{}, errors.New("damaged")
	}
	var columns columns
	if err := gob.NewDecoder(bytes.NewReader(data[sha256.Size:])).Decode(&columns); err != nil {
		return known{}, err
	}
	return columns.known(), nil
}

// columns holds what is known in one list for each field. gob takes more than twice as long for a map of structs, because it handles
// each byte of a digest separately. The checksum guarantees that the lists fit together.
type columns struct {
	Names   []string
	Times   []int64 // size, mtime and ctime of each file
	Inodes  []uint64
	Parts   []int  // of each file
	Digests []byte // of each file, then of its parts
	Packs   []byte // two digests of each pack: of its contents, and of what is stored
	Sizes   []int64
	Stored  []bool
}

func columnsOf(k known) columns {
	n := len(k.Files)
	c := columns{Names: make([]string, 0, n), Times: make([]int64, 0, 3*n), Inodes: make([]uint64, 0, n), Parts: make([]int, 0, n),
		Digests: make([]byte, 0, n*sha256.Size)}
	for name, f := range k.Files {
		c.Names, c.Inodes, c.Parts = append(c.Names, name), append(c.Inodes, f.Stamp.Inode), append(c.Parts, len(f.Parts))
		c.Times = append(c.Times, f.Stamp.Size, f.Stamp.MTime, f.Stamp.CTime)
		c.Digests = append(c.Digests, f.Digest[:]...)
		for _, part := range f.Parts {
			c.Digests = append(c.Digests, part[:]...)
		}
	}
	for contents, p := range k.Packs {
		c.Packs = append(append(c.Packs, contents[:]...), p.Digest[:]...)
		c.Sizes, c.Stored = append(c.Sizes, p.Size), append(c.Stored, p.Stored)
	}
	return c
}

func (c columns) known() known {
	next := func(digests *[]byte) (d digest) {
		*digests = (*digests)[copy(d[:], *digests):]
		return d
	}
	k := known{Files: make(map[string]knownFile, len(c.Names)), Packs: make(map[digest]knownPack, len(c.Sizes))}
	for i, name := range c.Names {
		times := c.Times[3*i:]
		f := knownFile{Stamp: stamp{Size: times[0], MTime: times[1], CTime: times[2], Inode: c.Inodes[i]}, Digest: next(&c.Digests)}
		for range c.Parts[i] {
			f.Parts = append(f.Parts, next(&c.Digests))
		}
		k.Files[name] = f
	}
	for i, size := range c.Sizes {
		contents := next(&c.Packs)
		k.Packs[contents] = knownPack{Digest: next(&c.Packs), Size: size, Stored: c.Stored[i]}
	}
	return k
}

func (c cache) check(body []byte) (sum digest) {
	h := sha256.New()
	h.Write(c.header)
	h.Write(body)
	h.Sum(sum[:0])
	return sum
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
