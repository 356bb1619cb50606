package wheel

import (
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
)

// checkMember reports why a member of the archive cannot be read.
func checkMember(f *zip.File) error {
	const encrypted = 1
	switch {
	case f.Flags&encrypted != 0:
		return errors.New("it is encrypted")
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return fmt.Errorf("it is compressed with method %d; wheels use deflate", f.Method)
	case f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64:
		return errors.New("it is not compressed, but has two sizes")
	}
	return nil
}

// executable reports whether installers mark a member as executable. As for pip, only the
// mode counts, whichever system the archive says it comes from.
func executable(f *zip.File) bool {
	mode := f.ExternalAttrs >> 16
	const typeMask, regular, anyExec = 0o170000, 0o100000, 0o111
	return mode&typeMask == regular && mode&anyExec != 0
}

// An inflater reads members one after the other. It keeps its buffers.
type inflater struct {
	interrupted func() error // returns why reading has to stop, or nil
	deflated    io.ReadCloser
	raw         *bufio.Reader
	buffer      []byte
}

func newInflater(interrupted func() error) *inflater {
	raw := bufio.NewReaderSize(nil, 64<<10)
	return &inflater{interrupted: interrupted, raw: raw, deflated: flate.NewReader(raw), buffer: make([]byte, 64<<10)}
}

// copy is io.Copy with a buffer that is kept.
func (i *inflater) copy(w io.Writer, r io.Reader) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, i.buffer)
	return err
}

// open returns the content of a member. The reader fails unless the content has the size and
// the checksum that the archive states. It is valid until the next call. All bytes of the
// compressed member are also written to copied, unless that is nil.
func (i *inflater) open(f *zip.File, copied io.Writer) (io.Reader, error) {
	raw, err := f.OpenRaw()
	if err != nil {
		return nil, err
	}
	if copied != nil {
		raw = io.TeeReader(raw, copied)
	}
	i.raw.Reset(raw)
	m := &memberReader{inflater: i, file: f, plain: i.raw, left: f.UncompressedSize64}
	if f.Method == zip.Deflate {
		if err := i.deflated.(flate.Resetter).Reset(i.raw, nil); err != nil {
			return nil, err
		}
		m.plain = i.deflated
	}
	return m, nil
}

// A memberReader checks what it reads, at the end at the latest.
type memberReader struct {
	*inflater
	file  *zip.File
	plain io.Reader
	left  uint64
	crc   uint32
}

func (m *memberReader) Read(p []byte) (int, error) {
	if err := m.interrupted(); err != nil {
		return 0, err
	}
	n, err := m.plain.Read(p)
	if uint64(n) > m.left {
		return 0, fmt.Errorf("it unpacks to more than the %d bytes that the archive states", m.file.UncompressedSize64)
	}
	m.left -= uint64(n)
	m.crc = crc32.Update(m.crc, crc32.IEEETable, p[:n])
	switch {
	case err == nil:
		return n, nil
	case err != io.EOF:
		return n, fmt.Errorf("it cannot be unpacked: %w", err)
	default:
		return n, m.end()
	}
}

// end returns io.EOF if the member was what the archive states.
func (m *memberReader) end() error {
	if m.left > 0 {
		return fmt.Errorf("it unpacks to %d bytes less than the archive states", m.left)
	}
	if _, err := m.raw.ReadByte(); err == nil {
		return errors.New("its compressed data ends before the archive says so")
	} else if err != io.EOF {
		return err
	}
	if m.crc != m.file.CRC32 {
		return fmt.Errorf("its checksum is %08x, and the archive states %08x", m.crc, m.file.CRC32)
	}
	return io.EOF
}

// maxText bounds what is read into memory: the texts in .dist-info.
const maxText = 64 << 20

func (i *inflater) readAll(f *zip.File, most uint64) ([]byte, error) {
	if f.UncompressedSize64 > most {
		return nil, fmt.Errorf("it has %d bytes, more than %d", f.UncompressedSize64, most)
	}
	r, err := i.open(f, nil)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
