package display

import (
	"bufio"
	"io"
)

// Buffer collects text of both streams for large writes, and keeps its order.
type Buffer struct {
	out, err bufferedStream
	last     *bufferedStream // the one that was written to
}

type bufferedStream struct {
	*bufio.Writer
	buffer *Buffer
}

// NewBuffer returns a Buffer that writes to w at most size bytes at a time.
func NewBuffer(w Streams, size int) *Buffer {
	b := &Buffer{}
	stream := func(w io.Writer) bufferedStream { return bufferedStream{bufio.NewWriterSize(w, size), b} }
	b.out, b.err = stream(w.Out), stream(w.Err)
	b.last = &b.out
	return b
}

// Streams returns the writers of both streams.
func (b *Buffer) Streams() Streams { return Streams{Out: &b.out, Err: &b.err} }

// Flush writes what was collected.
func (b *Buffer) Flush() error { return b.last.Flush() }

func (s *bufferedStream) Write(p []byte) (int, error) {
	if last := s.buffer.last; last != s {
		s.buffer.last = s
		if err := last.Flush(); err != nil {
			return 0, err
		}
	}
	return s.Writer.Write(p)
}
