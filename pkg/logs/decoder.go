package logs

import (
	"bytes"
	"io"
)

const (
	// MaxLine is the number of bytes of a line that are shown; a longer one is
	// cut at the next character boundary and ends in cutMark. A carriage return
	// begins anew, so that a progress bar may go on for ever.
	MaxLine = 64 << 10
	cutMark = "... [line cut at 64 KiB]"
)

// Decoder takes stamps and marks off a log that is written to it in pieces of any size,
// and writes what the job printed, byte by byte, to the writer of each stream. Text that
// has no stamp is passed on as it is.
type Decoder struct {
	parser parser
	lines  [2]line // by Stream
	since  []byte  // as a stamp; nil for all lines
	stamps bool    // print them

	now    *line // the current record's
	wanted bool  // the current record is not older than since
	to     *line // whose text out is
	out    []byte
	err    error // of the writer
}

// line is the current line of a stream.
type line struct {
	w      io.Writer
	begun  bool
	stamp  []byte
	keep   bool // it is shown
	length int  // from the last carriage return
	cut    bool // the rest, up to a line end or carriage return, is dropped
	redraw bool // the last byte was a carriage return
}

// NewDecoder makes a Decoder that writes to w. Of o it honours Since and
// Timestamps.
func NewDecoder(w Streams, o Options) *Decoder {
	d := &Decoder{stamps: o.Timestamps, wanted: o.Since.IsZero()}
	if !o.Since.IsZero() {
		d.since = o.Since.UTC().AppendFormat(nil, stampLayout)
	}
	d.lines[Stdout].w, d.lines[Stderr].w = w.Out, w.Err
	d.to = &d.lines[Stdout]
	return d
}

// Write decodes the next piece of the log.
func (d *Decoder) Write(p []byte) (int, error) {
	d.parser.parse(p, d)
	return len(p), d.flush()
}

// Next ends one log and begins another: that of the job's next attempt. Lines
// that were left unfinished are ended.
func (d *Decoder) Next() error {
	d.parser.reset()
	for i := range d.lines {
		l := &d.lines[i]
		if l.begun && l.keep {
			d.turnTo(l)
			d.out = append(d.out, '\n')
		}
		l.end()
	}
	return d.flush()
}

// flush writes what was decoded.
func (d *Decoder) flush() error {
	d.turnTo(d.to)
	err := d.err
	d.err = nil
	return err
}

// turnTo has what is decoded from now on go where the line goes.
func (d *Decoder) turnTo(l *line) {
	if len(d.out) > 0 && d.err == nil {
		_, d.err = d.to.w.Write(d.out)
	}
	d.out, d.to = d.out[:0], l
}

// begin implements records.
func (d *Decoder) begin(stamp []byte, s Stream) {
	l := &d.lines[s]
	d.now = l
	if l != d.to {
		d.turnTo(l)
	}
	if stamp != nil {
		d.wanted = !isBegun(stamp) && (d.since == nil || bytes.Compare(stamp[:len(d.since)], d.since) >= 0)
	}
	if l.begun && l.keep {
		return
	}
	if !l.begun {
		l.begun, l.keep = true, d.wanted
	}
	if !d.stamps {
		return
	}
	l.stamp = append(l.stamp[:0], stamp...)
	if l.keep {
		d.out = append(d.out, stamp...)
	}
}

// text implements records.
func (d *Decoder) text(b []byte, last bool) {
	l := d.now
	if !l.keep {
		b = l.redrawn(b, d.wanted)
	}
	switch {
	case !l.keep:
	case l.length+len(b) <= MaxLine && (!d.stamps || !l.redraws(b)):
		d.out = append(d.out, b...)
		l.length += len(b)
		if !last && bytes.IndexByte(b, '\r') >= 0 { // which is faster than LastIndexByte
			l.length = len(b) - bytes.LastIndexByte(b, '\r') - 1
		}
	default:
		d.segments(l, b)
	}
}

// end implements records.
func (d *Decoder) end(piece bool) {
	if piece {
		return
	}
	if d.now.keep {
		d.out = append(d.out, '\n')
	}
	d.now.end()
}

func (l *line) end() {
	l.begun, l.cut, l.redraw, l.length = false, false, false, 0
}

// redraws reports whether stamps have to be put after carriage returns too, where the
// terminal would overwrite the first one.
func (l *line) redraws(b []byte) bool { return l.redraw || bytes.IndexByte(b, '\r') >= 0 }

// redrawn finds where a line whose beginning is not shown is drawn anew, and is shown
// from there if its text is wanted by now.
func (l *line) redrawn(b []byte, wanted bool) []byte {
	for len(b) > 0 {
		if l.redraw && b[0] != '\r' && wanted {
			l.keep = true
			return b
		}
		i := bytes.IndexByte(b, '\r')
		l.redraw = i >= 0
		b = b[i+1:]
		if i < 0 {
			return nil
		}
	}
	return nil
}

// segments is text for lines that are too long or are drawn several times.
func (d *Decoder) segments(l *line, b []byte) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\r')
		if end < 0 {
			d.segment(l, b)
			return
		}
		d.segment(l, b[:end])
		d.out = append(d.out, '\r')
		l.length, l.cut, l.redraw = 0, false, true
		b = b[end+1:]
	}
}

// segment takes a part of a line that has no carriage return and no line end.
func (d *Decoder) segment(l *line, p []byte) {
	if l.cut || len(p) == 0 {
		return
	}
	if l.redraw && d.stamps {
		d.out = append(d.out, l.stamp...)
	}
	l.redraw = false
	n := min(len(p), max(0, MaxLine-l.length))
	for n < len(p) && l.length+n < MaxLine+3 && p[n]&0xC0 == 0x80 {
		n++ // the rest of a character, which has at most 3 further bytes
	}
	d.out = append(d.out, p[:n]...)
	l.length += n
	if n < len(p) {
		d.out = append(d.out, cutMark...)
		l.cut = true
	}
}
