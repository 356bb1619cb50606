package pack

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync/atomic"
	"time"
)

const (
	// largeFile is the size in bytes from which a file is a blob of its own.
	largeFile = 1 << 20
	// packSize limits the content of a pack, in bytes before compression.
	packSize = 4 << 20
	// sampleSize is how many bytes of a pack are tried, to see whether they can be
	// compressed.
	sampleSize = 256 << 10
	// keptPacks limits the compressed packs, in bytes, that a plan keeps in memory so
	// that the upload need not compress them again.
	keptPacks = 32 << 20
	// editedFiles is the most files that are packed apart because they were edited.
	editedFiles = 64
	// checkoutTime is how long git takes at most to write the files of a checkout.
	checkoutTime = time.Minute
)

// source is what a blob is made from: one large file, a part of one, or a pack.
type source struct {
	// members are indices of files, in path order.
	members []int
	// part is the number of the part of a file that has parts.
	part   int
	packed bool
	// stored is true for a pack that compression doesn't make smaller.
	stored bool
	// known is true for a pack whose digest the cache had.
	known bool
	// digest and size are those of the blob as stored.
	digest digest
	size   int64
	// blob is the blob itself; nil if it has to be made again for the upload.
	blob []byte
}

func (s source) encoding() string {
	if s.packed && !s.stored {
		return "gzip"
	}
	return ""
}

// arrange decides which file goes into which blob, in the order of the blobs' first
// files. It leaves the digests of packs empty. Small files that were edited since a time
// are in packs of their own, unless that is the zero time.
func arrange(files []file, since time.Time) []source {
	var sources []source
	var small []int
	for i, f := range files {
		switch {
		case len(f.parts) > 0:
			for part, digest := range f.parts {
				_, size := f.partRange(part)
				sources = append(sources, source{members: []int{i}, part: part, digest: digest, size: size})
			}
		case f.stamp.Size >= largeFile:
			sources = append(sources, source{members: []int{i}, digest: f.digest, size: f.stamp.Size})
		default:
			small = append(small, i)
		}
	}
	hashes := make([]uint64, len(files))
	for _, i := range small {
		hashes[i] = pathHash([]byte(files[i].rel))
	}
	edited, others := separate(files, small, since)
	for _, members := range append(divide(files, hashes, edited, 63), divide(files, hashes, others, 63)...) {
		sources = append(sources, source{members: members, packed: true})
	}
	slices.SortStableFunc(sources, func(a, b source) int { return a.members[0] - b.members[0] })
	return sources
}

// separate returns the files edited since a time, and the others, both in path order. If many files are that new, most
// come from a checkout: only files edited later count. So the next edit changes a pack of few files.
func separate(files []file, members []int, since time.Time) (edited, others []int) {
	if since.IsZero() {
		return nil, members
	}
	for _, i := range members {
		if files[i].stamp.MTime > since.UnixNano() {
			edited = append(edited, i)
		}
	}
	slices.SortStableFunc(edited, func(a, b int) int { return cmp.Compare(files[b].stamp.MTime, files[a].stamp.MTime) })
	if len(edited) > editedFiles { // most come from a checkout
		after := files[edited[editedFiles]].stamp.MTime + int64(checkoutTime)
		edited = slices.DeleteFunc(edited[:editedFiles], func(i int) bool { return files[i].stamp.MTime <= after })
	}
	slices.Sort(edited)
	for _, i := range members {
		if _, apart := slices.BinarySearch(edited, i); !apart {
			others = append(others, i)
		}
	}
	return edited, others
}

// pathHash decides where a file belongs.
func pathHash(rel []byte) uint64 {
	h := sha256.Sum256(rel)
	return binary.BigEndian.Uint64(h[:])
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
// in known, and keeps that many bytes of them.
func compressPacks(ctx context.Context, files []file, sources []source, known known, keep int64) error {
	var todo []*source
	for i := range sources {
		s := &sources[i]
		if !s.packed {
			continue
		}
		if k, ok := known.Packs[contents(files, s.members)]; ok {
			s.digest, s.size, s.stored, s.known = k.Digest, k.Size, k.Stored, true
		} else {
			todo = append(todo, s)
		}
	}
	var kept atomic.Int64
	return parallel(ctx, len(todo), func(ctx context.Context, i int, buf []byte) error {
		s := todo[i]
		content, err := s.content(ctx, files, buf)
		if err != nil {
			return err
		}
		if s.stored, err = incompressible(content); err != nil {
			return err
		}
		blob, err := s.encode(content)
		if err != nil {
			return err
		}
		s.digest, s.size = sha256.Sum256(blob), int64(len(blob))
		if kept.Add(s.size) <= keep {
			s.blob = blob
		}
		return nil
	})
}

// content returns the files of a pack, one after the other, after checking them.
func (s *source) content(ctx context.Context, files []file, buf []byte) ([]byte, error) {
	var size int64
	for _, i := range s.members {
		size += files[i].stamp.Size
	}
	var all bytes.Buffer
	all.Grow(int(size))
	for _, i := range s.members {
		if err := copyVerified(ctx, &files[i], &all, buf); err != nil {
			return nil, err
		}
	}
	return all.Bytes(), nil
}

func (s *source) encode(content []byte) ([]byte, error) {
	if s.stored {
		return content, nil
	}
	return compress(content)
}

// incompressible reports whether compression saves less than a sixteenth of the beginning
// of a pack.
func incompressible(content []byte) (bool, error) {
	head := content[:min(len(content), sampleSize)]
	packed, err := compress(head)
	return len(head) > 0 && len(packed) > len(head)-len(head)/16, err
}
