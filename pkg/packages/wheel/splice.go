package wheel

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
)

// A splicer writes a gzip file of several members (RFC 1952): some it compresses, some are
// deflate streams that exist. All of it unpacks to one stream.
type splicer struct {
	out     *bufio.Writer
	deflate *flate.Writer

	// The member that is being written.
	open bool
	crc  uint32
	size uint32 // modulo 2^32, as gzip has it
}

// level is that of the parts that are compressed. The library is not Go's own: its version
// is pinned in go.mod, so that all builds give the same bytes.
const level = 6

// gzipHeader is a header with no name, no mtime and an unknown operating system.
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

func newSplicer(w io.Writer) (*splicer, error) {
	s := &splicer{out: bufio.NewWriterSize(w, 64<<10)}
	var err error
	s.deflate, err = flate.NewWriter(s.out, level)
	return s, err
}

// Write compresses p.
func (s *splicer) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil // begins no member
	}
	if !s.open {
		s.open, s.crc, s.size = true, 0, 0
		if _, err := s.out.Write(gzipHeader); err != nil {
			return 0, err
		}
		s.deflate.Reset(s.out)
	}
	s.crc = crc32.Update(s.crc, crc32.IEEETable, p)
	s.size += uint32(len(p))
	return s.deflate.Write(p)
}

// endMember ends the member that Write has begun, if any.
func (s *splicer) endMember() error {
	if !s.open {
		return nil
	}
	s.open = false
	if err := s.deflate.Close(); err != nil {
		return err
	}
	return s.trailer(s.crc, s.size)
}

// splice adds a deflate stream, which write writes, as a member of its own.
func (s *splicer) splice(crc uint32, size uint64, write func(io.Writer) error) error {
	if err := s.endMember(); err != nil {
		return err
	}
	if _, err := s.out.Write(gzipHeader); err != nil {
		return err
	}
	if err := write(s.out); err != nil {
		return err
	}
	return s.trailer(crc, uint32(size))
}

func (s *splicer) trailer(crc, size uint32) error {
	var b []byte
	b = binary.LittleEndian.AppendUint32(b, crc)
	b = binary.LittleEndian.AppendUint32(b, size)
	_, err := s.out.Write(b)
	return err
}

// close ends the file. It does not close what is below.
func (s *splicer) close() error {
	if err := s.endMember(); err != nil {
		return err
	}
	return s.out.Flush()
}
