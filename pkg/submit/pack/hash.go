package pack

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// hashFiles fills in the digests. It takes those from known whose stamps have not
// changed.
func hashFiles(ctx context.Context, files []file, known known) error {
	var todo []piece
	for i := range files {
		f := &files[i]
		if k, ok := known.Files[f.rel]; ok && k.Stamp == f.stamp && len(k.Parts) == f.partCount() {
			f.digest, f.parts, f.settled, f.known = k.Digest, k.Parts, true, true
			continue
		}
		f.parts = make([]digest, f.partCount())
		todo = append(todo, piece{file: f})
		for part := 1; part < len(f.parts); part++ {
			todo = append(todo, piece{f, part})
		}
	}
	start := time.Now()
	err := parallel(ctx, len(todo), func(ctx context.Context, i int, buf []byte) error {
		p := todo[i]
		if len(p.file.parts) > 0 {
			return hashPart(ctx, p.file, p.part, buf)
		}
		return hashFile(ctx, p.file, buf)
	})
	for _, p := range todo {
		if p.part == 0 && len(p.file.parts) > 0 {
			p.file.sumParts(start)
		}
	}
	return err
}

// piece is what is hashed at once: a file, or a part of one.
type piece struct {
	file *file
	part int
}

// partCount returns the number of parts of a large file, 0 for others.
func (f *file) partCount() int {
	if f.stamp.Size <= api.Contract.Limits.Part {
		return 0
	}
	return int((f.stamp.Size + api.Contract.Limits.Part - 1) / api.Contract.Limits.Part)
}

// partRange returns where a part begins, and its length.
func (f *file) partRange(part int) (offset, size int64) {
	offset = int64(part) * api.Contract.Limits.Part
	return offset, min(api.Contract.Limits.Part, f.stamp.Size-offset)
}

// sumParts sets the digest once all parts have been hashed, which began at start.
func (f *file) sumParts(start time.Time) {
	h := sha256.New()
	for _, part := range f.parts {
		if part == (digest{}) {
			return // an error ended it
		}
		h.Write(part[:])
	}
	f.digest, f.settled = sum(h), f.stamp.settledAt(start)
}

// hashPart reads a part of a large file, and fails if the file has changed since the walk.
func hashPart(ctx context.Context, f *file, part int, buf []byte) error {
	r, err := openFile(f)
	if err != nil {
		return err
	}
	defer r.Close()
	offset, size := f.partRange(part)
	f.parts[part], err = hashed(ctx, f, r, io.NewSectionReader(r, offset, size), size, buf)
	return err
}

// hashFile reads a whole file and fails if the file is written to meanwhile.
func hashFile(ctx context.Context, f *file, buf []byte) error {
	start := time.Now()
	r, err := openFile(f)
	if err != nil {
		return err
	}
	defer r.Close()
	before, err := r.Stat()
	if err != nil {
		return unreadable(f.rel, err)
	}
	f.stamp = stampOf(before)
	if f.partCount() > 0 { // it was smaller, else it would be read in parts
		return changed(f.rel)
	}
	if f.digest, err = hashed(ctx, f, r, r, f.stamp.Size, buf); err != nil {
		return err
	}
	f.settled = f.stamp.settledAt(start)
	return nil
}

// hashed returns the digest of the content of an open file, or of a part of it, that has a size. It fails if the file
// no longer has its stamp.
func hashed(ctx context.Context, f *file, open *os.File, content io.Reader, size int64, buf []byte) (digest, error) {
	h := sha256.New()
	n, err := read(ctx, f, content, buf, h)
	if err != nil {
		return digest{}, err
	}
	after, err := open.Stat()
	if err != nil {
		return digest{}, unreadable(f.rel, err)
	}
	if n != size || stampOf(after) != f.stamp || !after.Mode().IsRegular() {
		return digest{}, changed(f.rel)
	}
	return sum(h), nil
}

// copyVerified copies a file's content to w, and fails if the content is not what was
// hashed. However much a file grew, w gets at most one byte more.
func copyVerified(ctx context.Context, f *file, w io.Writer, buf []byte) error {
	if f.stamp.Size == 0 {
		return nil
	}
	r, err := openFile(f)
	if err != nil {
		return err
	}
	defer r.Close()
	h := sha256.New()
	n, err := read(ctx, f, io.LimitReader(r, f.stamp.Size+1), buf, io.MultiWriter(h, w))
	if err != nil {
		return err
	}
	if n != f.stamp.Size || sum(h) != f.digest {
		return changed(f.rel)
	}
	return nil
}

// openFile opens a file of the plan. A file that has been deleted counts as changed.
func openFile(f *file) (*os.File, error) {
	r, err := os.Open(f.abs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, changed(f.rel)
	}
	if err != nil {
		return nil, unreadable(f.rel, err)
	}
	return r, nil
}

// openPart opens a part of a large file. The last one includes what was appended since, so
// that the change is seen.
func openPart(f *file, part int) (io.ReadCloser, error) {
	r, err := openFile(f)
	if err != nil {
		return nil, err
	}
	offset, size := f.partRange(part)
	if offset+size == f.stamp.Size {
		size = math.MaxInt64 - offset
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(r, offset, size), r}, nil
}

// read copies r to w through buf. Only errors of r are reported as errors of the file.
func read(ctx context.Context, f *file, r io.Reader, buf []byte, w io.Writer) (int64, error) {
	var total int64
	for {
		if err := ctx.Err(); err != nil {
			return total, err
		}
		n, err := r.Read(buf)
		total += int64(n)
		if _, err := w.Write(buf[:n]); err != nil {
			return total, err
		}
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, unreadable(f.rel, err)
		}
	}
}

func sum(h hash.Hash) (d digest) {
	h.Sum(d[:0])
	return d
}
