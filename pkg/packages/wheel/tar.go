package wheel

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"time"
)

// A tarWriter writes the files of a layer. The first time, it checks what it reads; once the
// digests are known, streams that are copied are not unpacked any more.
type tarWriter struct {
	prefix   string
	checked  bool
	inflater *inflater
	gzip     *splicer

	digest   hash.Hash
	size     int64
	diff     hash.Hash // of the tar, only if not checked
	unpacked int64

	header  bytes.Buffer
	folders map[string]bool
}

func newTarWriter(w io.Writer, prefix string, checked bool, interrupted func() error) (*tarWriter, error) {
	t := &tarWriter{
		prefix: prefix, checked: checked, inflater: newInflater(interrupted),
		digest: sha256.New(), diff: sha256.New(), folders: map[string]bool{},
	}
	var err error
	t.gzip, err = newSplicer(io.MultiWriter(w, t.digest, (*counter)(&t.size)))
	return t, err
}

// A counter counts the bytes that are written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// Write adds bytes of the tar that are compressed.
func (t *tarWriter) Write(p []byte) (int, error) {
	if !t.checked {
		t.diff.Write(p)
		t.unpacked += int64(len(p))
	}
	return t.gzip.Write(p)
}

// add adds a file, and the folders above it that are new.
func (t *tarWriter) add(f *file) error {
	if err := t.inflater.interrupted(); err != nil {
		return err
	}
	var failed error
	f.folders(t.prefix, func(folder string) {
		if failed == nil && !t.folders[folder] {
			t.folders[folder] = true
			failed = t.addHeader(tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755})
		}
	})
	if failed != nil {
		return failed
	}
	h := tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: 0o644, Size: f.size}
	switch {
	case f.link != "":
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, f.link, 0o777
	case f.executable:
		h.Mode = 0o755
	}
	if err := t.addHeader(h); err != nil {
		return err
	}
	if err := t.addContent(f); err != nil {
		return err
	}
	_, err := t.Write(make([]byte, -f.size&(block-1)))
	return err
}

// block is the size of a tar's blocks, which files are padded to.
const block = 512

// epoch is the first moment that a zip can tell.
func epoch() time.Time { return time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC) }

func (t *tarWriter) addHeader(h tar.Header) error {
	h.ModTime, h.Format = epoch(), tar.FormatPAX
	t.header.Reset()
	if err := tar.NewWriter(&t.header).WriteHeader(&h); err != nil {
		return err
	}
	_, err := t.Write(t.header.Bytes())
	return err
}

func (t *tarWriter) addContent(f *file) error {
	if f.copied() {
		return t.gzip.splice(f.member.CRC32, f.member.UncompressedSize64, func(w io.Writer) error { return t.copyStream(w, f) })
	}
	if t.checked || f.member == nil {
		return f.writeTo(t, t.inflater)
	}
	sum := newVerifier(f.sum)
	if err := f.writeTo(io.MultiWriter(t, sum), t.inflater); err != nil {
		return err
	}
	return sum.check()
}

// copyStream copies a member's deflate stream.
func (t *tarWriter) copyStream(w io.Writer, f *file) error {
	if t.checked {
		raw, err := f.member.OpenRaw()
		if err != nil {
			return err
		}
		return t.inflater.copy(w, raw)
	}
	plain, err := t.inflater.open(f.member, w)
	if err != nil {
		return err
	}
	sum := newVerifier(f.sum)
	if err := t.inflater.copy(io.MultiWriter(t.diff, sum), plain); err != nil {
		return err
	}
	t.unpacked += f.size
	return sum.check()
}

func (t *tarWriter) close() error {
	if _, err := t.Write(make([]byte, 2*block)); err != nil {
		return err
	}
	return t.gzip.close()
}

// write writes all files of a layer, sorted.
func (t *tarWriter) write(files []file) error {
	for i := range files {
		if err := t.add(&files[i]); err != nil {
			if canceled := t.inflater.interrupted(); canceled != nil {
				return canceled
			}
			return fmt.Errorf("convert %s: %q: %w", files[i].wheel, files[i].origin(), err)
		}
	}
	return t.close()
}

func digestOf(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// cause returns a function that returns why a context has ended, or nil.
func cause(ctx context.Context) func() error {
	return func() error { return context.Cause(ctx) }
}
