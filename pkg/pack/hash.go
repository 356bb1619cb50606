package pack

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"time"
)

// hashFiles fills in the digests. It takes those from known whose stamps have not
// changed.
func hashFiles(ctx context.Context, files []file, known map[string]knownFile) error {
	var todo []*file
	for i := range files {
		f := &files[i]
		if k, ok := known[f.rel]; ok && k.Stamp == f.stamp {
			f.digest, f.settled = k.Digest, true
		} else {
			todo = append(todo, f)
		}
	}
	return parallel(ctx, len(todo), func(ctx context.Context, i int, buf []byte) error {
		return hashFile(ctx, todo[i], buf)
	})
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
	h := sha256.New()
	n, err := read(ctx, f, r, buf, h)
	if err != nil {
		return err
	}
	after, err := r.Stat()
	if err != nil {
		return unreadable(f.rel, err)
	}
	if n != f.stamp.Size || stampOf(after) != f.stamp || !after.Mode().IsRegular() {
		return changed(f.rel)
	}
	h.Sum(f.digest[:0])
	f.settled = f.stamp.settledAt(start)
	return nil
}

// copyVerified copies a file's content to w, and fails if the content is not what was
// hashed. However much a file grew, w gets at most one byte more.
func copyVerified(ctx context.Context, f *file, w io.Writer, buf []byte) error {
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
