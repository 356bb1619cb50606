package display

import (
	"bytes"
	"io"
)

const (
	// MaxLine is how many bytes of a line a terminal shows.
	MaxLine = 64 << 10
	cutMark = "... [line cut at 64 KiB]"

	// maxMergedLine is how many bytes of a line are kept when the lines of several hosts
	// are merged: each line is held in memory until it ends.
	maxMergedLine = 1 << 20
	mergedCutMark = "... [line cut at 1 MiB]"
)

// cutter passes on lines, cut to a maximum length at the next character boundary and with
// a mark at the cut. A carriage return starts the count again, so that a progress bar may
// be drawn any number of times.
type cutter struct {
	w      io.Writer
	limit  int // in bytes
	mark   string
	length int  // of the current line, since the last carriage return
	cut    bool // the rest, up to a line end or carriage return, is dropped
	out    []byte
}

func newCutter(w io.Writer) *cutter { return &cutter{w: w, limit: MaxLine, mark: cutMark} }

func newMergedCutter(w io.Writer) *cutter {
	return &cutter{w: w, limit: maxMergedLine, mark: mergedCutMark}
}

// Cut limits lines to a length that people can read.
func Cut(w Streams) Streams { return Streams{Out: newCutter(w.Out), Err: newCutter(w.Err)} }

func (c *cutter) Write(b []byte) (int, error) {
	if !c.cut && c.length+len(b) <= c.limit {
		last := b[bytes.LastIndexByte(b, '\n')+1:]
		last = last[bytes.LastIndexByte(last, '\r')+1:]
		if len(last) < len(b) {
			c.length = 0
		}
		c.length += len(last)
		return c.w.Write(b)
	}
	c.out = c.out[:0]
	for rest := b; len(rest) > 0; {
		end := bytes.IndexAny(rest, "\r\n")
		if end < 0 {
			c.text(rest)
			break
		}
		c.text(rest[:end])
		c.out = append(c.out, rest[end])
		c.length, c.cut = 0, false
		rest = rest[end+1:]
	}
	if len(c.out) == 0 {
		return len(b), nil
	}
	_, err := c.w.Write(c.out)
	return len(b), err
}

// text handles a part of a line without carriage returns and line ends.
func (c *cutter) text(b []byte) {
	if c.cut {
		return
	}
	n := min(len(b), max(0, c.limit-c.length))
	for n < len(b) && c.length+n < c.limit+3 && b[n]&0xC0 == 0x80 {
		n++ // the rest of a character, which has at most 3 further bytes
	}
	c.out = append(c.out, b[:n]...)
	c.length += n
	if n < len(b) {
		c.out = append(c.out, c.mark...)
		c.cut = true
	}
}
