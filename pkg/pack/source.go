package pack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"slices"
	"sync/atomic"
)

const (
	// largeFile is the size in bytes from which a file is a blob of its own.
	largeFile = 1 << 20
	// packSize limits the content of a pack, in bytes before compression.
	packSize = 4 << 20
	// keptPacks limits the compressed packs, in bytes, that a plan keeps in memory so
	// that the upload need not compress them again.
	keptPacks = 32 << 20
)

// source is what a blob is made from: one large file, or a pack.
type source struct {
	// members are indices of files, in path order.
	members []int
	packed  bool
	// digest and size are those of the blob as stored.
	digest digest
	size   int64
	// blob is the blob itself; nil if it has to be made again for the upload.
	blob []byte
}

func (s source) encoding() string {
	if s.packed {
		return "gzip"
	}
	return ""
}

// arrange decides which file goes into which blob, in the order of the blobs' first
// files. It leaves the digests of packs empty.
func arrange(files []file) []source {
	var sources []source
	var small []int
	for i, f := range files {
		if f.stamp.Size >= largeFile {
			sources = append(sources, source{members: []int{i}, digest: f.digest, size: f.stamp.Size})
		} else {
			small = append(small, i)
		}
	}
	hashes := make([]uint64, len(files))
	for _, i := range small {
		h := sha256.Sum256([]byte(files[i].rel))
		hashes[i] = binary.BigEndian.Uint64(h[:])
	}
	for _, members := range divide(files, hashes, small, 63) {
		sources = append(sources, source{members: members, packed: true})
	}
	slices.SortFunc(sources, func(a, b source) int { return a.members[0] - b.members[0] })
	return sources
}

// divide puts files that fit together into one pack, and otherwise halves them by one bit
// of the hash of their paths. So a file's pack depends on its path and, where a half
// becomes too large or small enough, on the files with the closest hashes. A change never
// moves the boundaries of the other packs.
func divide(files []file, hashes []uint64, members []int, bit int) [][]int {
	if len(members) == 0 {
		return nil
	}
	var total int64
	for _, i := range members {
		total += files[i].stamp.Size
	}
	if total <= packSize || bit < 0 {
		return [][]int{members}
	}
	var halves [2][]int
	for _, i := range members {
		half := hashes[i] >> bit & 1
		halves[half] = append(halves[half], i)
	}
	return append(divide(files, hashes, halves[0], bit-1), divide(files, hashes, halves[1], bit-1)...)
}

// contents identifies what a pack holds: its files' digests, in order.
func contents(files []file, members []int) digest {
	h := sha256.New()
	for _, i := range members {
		h.Write(files[i].digest[:])
	}
	return sum(h)
}

// compressPacks sets the digest and size of every pack. It compresses those that are not
// in known.
func compressPacks(ctx context.Context, files []file, sources []source, known map[digest]knownPack) error {
	var todo []*source
	for i := range sources {
		s := &sources[i]
		if !s.packed {
			continue
		}
		if k, ok := known[contents(files, s.members)]; ok {
			s.digest, s.size = k.Digest, k.Size
		} else {
			todo = append(todo, s)
		}
	}
	var kept atomic.Int64
	return parallel(ctx, len(todo), func(ctx context.Context, i int, buf []byte) error {
		s := todo[i]
		var blob bytes.Buffer
		if err := writePack(ctx, &blob, files, s.members, buf); err != nil {
			return err
		}
		s.digest, s.size = sha256.Sum256(blob.Bytes()), int64(blob.Len())
		if kept.Add(s.size) <= keptPacks {
			s.blob = blob.Bytes()
		}
		return nil
	})
}

// writePack writes files one after the other, compressed.
func writePack(ctx context.Context, w io.Writer, files []file, members []int, buf []byte) error {
	return compress(w, func(gz io.Writer) error {
		for _, i := range members {
			if err := copyVerified(ctx, &files[i], gz, buf); err != nil {
				return err
			}
		}
		return nil
	})
}
