package pack

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
)

// cacheVersion changes with the format of the cache and with what decides a pack's bytes:
// the compression level and the order of files.
const cacheVersion = 3

// segment holds what is known about the files of one root whose path hashes are in a range.
type segment struct {
	Last  uint64               // the range's end; it begins after the segment before
	Files map[string]knownFile // by file.rel
	Packs map[digest]knownPack // by contents

	at int64 // where it is in the old file
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

func (s segment) equal(other segment) bool {
	return s.Last == other.Last && maps.EqualFunc(s.Files, other.Files, knownFile.equal) && maps.Equal(s.Packs, other.Packs)
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

// cache is the file of what is known about one root: a header, and segments in the order of
// their ranges. Only the segments of one range are in memory. A new file replaces the old
// one if a segment differs; until then, nothing is written.
type cache struct {
	name   string // "" if there is none
	header digest
	old    *os.File // nil if there is none to use
	reader *bufio.Reader
	begin  int64     // in old, of what hasn't been read
	ended  bool      // nothing follows there that can be read
	held   []segment // whose ranges overlap the present one
	same   int64     // how much of old is part of the new file as it is
	temp   *os.File  // the new file, nil as long as it would be the same
}

// openCache opens the cache of a kind of package of a root. If it is missing, damaged or of
// another version, it is empty.
func openCache(dir, kind, root string) *cache {
	c := &cache{header: sha256.Sum256(fmt.Appendf(nil, "%d %s %s", cacheVersion, compressorVersion(), root))}
	if dir == "" {
		return c
	}
	name := sha256.Sum256([]byte(root))
	c.name = filepath.Join(dir, kind+"-"+hex.EncodeToString(name[:12]))
	old, err := os.Open(c.name)
	if err != nil {
		return c
	}
	var header digest
	reader := bufio.NewReader(old)
	if _, err := io.ReadFull(reader, header[:]); err != nil || header != c.header {
		_ = old.Close()
		return c
	}
	c.old, c.reader, c.begin, c.same = old, reader, sha256.Size, sha256.Size
	return c
}

// known is what a cache knows about a range.
type known []segment

func (k known) file(rel string) (f knownFile, ok bool) {
	for _, s := range k {
		if f, ok = s.Files[rel]; ok {
			break
		}
	}
	return f, ok
}

func (k known) pack(contents digest) (p knownPack, ok bool) {
	for _, s := range k {
		if p, ok = s.Packs[contents]; ok {
			break
		}
	}
	return p, ok
}

// upTo returns what is known about the next range of path hashes, which ends with last.
func (c *cache) upTo(last uint64) known {
	for c.old != nil && !c.ended && (len(c.held) == 0 || c.held[len(c.held)-1].Last < last) {
		data, err := readSegment(c.reader)
		if err != nil {
			c.ended = true
			break
		}
		s, err := decodeSegment(data)
		if err != nil {
			c.ended = true
			break
		}
		s.at = c.begin
		c.begin += int64(len(data)) + 8
		c.held = append(c.held, s)
	}
	return c.held
}

// put writes what is known now about the range of the last upTo.
func (c *cache) put(s segment) error {
	if c.name == "" {
		return nil
	}
	if c.temp == nil && len(c.held) == 1 && c.held[0].equal(s) {
		c.same, c.held = c.begin, nil
		return nil
	}
	c.held = slices.DeleteFunc(c.held, func(h segment) bool { return h.Last <= s.Last })
	data, err := encodeSegment(s)
	if err != nil {
		return err
	}
	if err := c.start(); err != nil {
		return err
	}
	_, err = c.temp.Write(append(binary.BigEndian.AppendUint64(nil, uint64(len(data))), data...))
	return err
}

// start begins the new file with what is the same.
func (c *cache) start() error {
	if c.temp != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.name), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(c.name), filepath.Base(c.name)+".*")
	if err != nil {
		return err
	}
	c.temp = temp
	if _, err := temp.Write(c.header[:]); err != nil || c.old == nil {
		return err
	}
	_, err = io.Copy(temp, io.NewSectionReader(c.old, sha256.Size, c.same-sha256.Size))
	return err
}

// close gives the new file its name, so that other processes see the old file or the new
// one. After an interruption, the new file has what is old about the rest.
func (c *cache) close() error {
	if c.old != nil {
		defer c.old.Close()
	}
	if c.temp == nil {
		return nil
	}
	defer os.Remove(c.temp.Name()) // gone already if all went well
	var err error
	if c.old != nil {
		from, size := c.begin, int64(math.MaxInt64>>1)
		if len(c.held) > 0 {
			from = c.held[0].at
		}
		if c.ended {
			size = c.begin - from
		}
		_, err = io.Copy(c.temp, io.NewSectionReader(c.old, from, size))
	}
	if err := errors.Join(err, c.temp.Close()); err != nil {
		return err
	}
	return os.Rename(c.temp.Name(), c.name)
}

// remember returns what a plan found out about a range.
func remember(files []file, sources []source, last uint64) segment {
	s := segment{Last: last, Files: map[string]knownFile{}, Packs: map[digest]knownPack{}}
	for _, f := range files {
		if f.settled {
			s.Files[f.rel] = knownFile{Stamp: f.stamp, Digest: f.digest, Parts: f.parts}
		}
	}
	for _, p := range sources {
		if p.packed && p.size > 0 {
			s.Packs[contents(files, p.members)] = knownPack{Digest: p.digest, Size: p.size, Stored: p.stored}
		}
	}
	return s
}

// maxSegment limits what is read at once; a segment of the largest index has less.
const maxSegment = 1 << 30

// readSegment reads the bytes of the next segment.
func readSegment(r io.Reader) ([]byte, error) {
	var size [8]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint64(size[:])
	if n > maxSegment {
		return nil, errors.New("damaged")
	}
	var data bytes.Buffer
	if _, err := io.CopyN(&data, r, int64(n)); err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}

// encodeSegment puts a checksum in front, so that damaged data is never used.
func encodeSegment(s segment) ([]byte, error) {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(s); err != nil {
		return nil, err
	}
	check := sha256.Sum256(body.Bytes())
	return append(check[:], body.Bytes()...), nil
}

func decodeSegment(data []byte) (s segment, err error) {
	if len(data) < sha256.Size || sha256.Sum256(data[sha256.Size:]) != digest(data[:sha256.Size]) {
		return s, errors.New("damaged")
	}
	return s, gob.NewDecoder(bytes.NewReader(data[sha256.Size:])).Decode(&s)
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
