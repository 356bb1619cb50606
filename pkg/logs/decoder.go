package logs

import (
	"bytes"
	"io"
	"time"
)

const (
	// MaxLine is the number of bytes of a line that are shown; a longer one is
	// cut at the next character boundary and ends in cutMark. A carriage return
	// begins anew, so that a progress bar may go on for ever.
	MaxLine = 64 << 10
	cutMark = "... [line cut at 64 KiB]"

	// stampForm is what a line begins with: any digit for 0, the rest as it is.
	stampForm = "0000-00-00T00:00:00.000000Z "
	// stampLayout is the same for package time, without the space.
	stampLayout = "2006-01-02T15:04:05.000000Z"
)

// AppendStamp appends the stamp that a line of this time begins with.
func AppendStamp(b []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(b, stampLayout), ' ')
}

// Decoder takes the stamps off a log that is written to it in pieces of any
// size, and passes on the rest byte by byte as the job printed it. Text that
// has no stamp is passed on as it is. Each Write makes at most one Write to the
// writer below.
type Decoder struct {
	w      io.Writer
	since  []byte // as a stamp; nil for all lines
	stamps bool   // print them

	stamp   []byte // the current line's, complete unless inStamp
	inStamp bool
	keep    bool // the current line is not older than since
	length  int  // of the current line, from the last carriage return
	cut     bool // the rest, up to a line end or carriage return, is dropped
	redraw  bool // the last byte was a carriage return
	out     []byte
}

// NewDecoder makes a Decoder that writes to w. Of o it honours Since and
// Timestamps.
func NewDecoder(w io.Writer, o Options) *Decoder {
	d := &Decoder{w: w, stamps: o.Timestamps, inStamp: true, keep: o.Since.IsZero()}
	if !o.Since.IsZero() {
		d.since = o.Since.UTC().AppendFormat(nil, stampLayout)
	}
	return d
}

// Write decodes the next piece of the log.
func (d *Decoder) Write(p []byte) (int, error) {
	d.out = d.out[:0]
	for rest := p; len(rest) > 0; {
		if d.inStamp {
			rest = d.readStamp(rest)
			continue
		}
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		d.text(rest[:end])
		rest = rest[end:]
	}
	return len(p), d.flush()
}

// Next ends one stream and begins another: the next attempt of the same job.
// A line that was left unfinished is ended.
func (d *Decoder) Next() error {
	d.out = d.out[:0]
	if !d.inStamp && d.keep {
		d.out = append(d.out, '\n')
	}
	d.beginLine()
	return d.flush()
}

func (d *Decoder) flush() error {
	if len(d.out) == 0 {
		return nil
	}
	_, err := d.w.Write(d.out)
	return err
}

func (d *Decoder) beginLine() {
	d.stamp = d.stamp[:0]
	d.inStamp, d.cut, d.redraw, d.length = true, false, false, 0
}

// readStamp takes the stamp, or as much of it as p has, and returns the rest. A
// stamp that the end of the stream tears is nobody's output and stays unseen.
func (d *Decoder) readStamp(p []byte) []byte {
	want := min(len(stampForm)-len(d.stamp), len(p))
	n := stampPrefix(p[:want], len(d.stamp))
	d.stamp = append(d.stamp, p[:n]...)
	switch {
	case len(d.stamp) == len(stampForm):
		d.inStamp = false
		d.keep = d.since == nil || bytes.Compare(d.stamp[:len(d.since)], d.since) >= 0
		if d.keep && d.stamps {
			d.out = append(d.out, d.stamp...)
		}
	case n < want: // not a stamp: text from its first byte
		d.inStamp = false
		text := append([]byte(nil), d.stamp...)
		d.stamp = d.stamp[:0]
		d.text(text)
	}
	return p[n:]
}

// stampPrefix tells how many bytes of p fit the form of a stamp from its
// at-th byte on.
func stampPrefix(p []byte, at int) int {
	for i, c := range p {
		form := stampForm[at+i]
		if form == '0' && c-'0' > 9 || form != '0' && c != form {
			return i
		}
	}
	return len(p)
}

// text takes bytes of one line, with its line end if that is reached.
func (d *Decoder) text(line []byte) {
	ended := len(line) > 0 && line[len(line)-1] == '\n'
	switch {
	case !d.keep:
	case d.length+len(line) <= MaxLine && !d.drawsStamps(line):
		d.out = append(d.out, line...)
		d.length += len(line)
		if ended {
			break
		}
		if i := bytes.LastIndexByte(line, '\r'); i >= 0 {
			d.length = len(line) - i - 1
		}
	default:
		d.segments(line)
	}
	if ended {
		d.beginLine()
	}
}

// drawsStamps tells whether stamps have to be put after carriage returns too,
// where the terminal would overwrite the first one.
func (d *Decoder) drawsStamps(line []byte) bool {
	return d.stamps && (d.redraw || bytes.IndexByte(line, '\r') >= 0)
}

// segments is text for lines that are too long or are drawn several times.
func (d *Decoder) segments(line []byte) {
	for len(line) > 0 {
		end := bytes.IndexAny(line, "\r\n")
		if end < 0 {
			d.segment(line)
			return
		}
		d.segment(line[:end])
		d.out = append(d.out, line[end])
		d.length, d.cut, d.redraw = 0, false, line[end] == '\r'
		line = line[end+1:]
	}
}

// segment takes a part of a line that has no carriage return and no line end.
func (d *Decoder) segment(p []byte) {
	if d.cut || len(p) == 0 {
		return
	}
	if d.redraw && d.stamps {
		d.out = append(d.out, d.stamp...)
	}
	d.redraw = false
	n := min(len(p), max(0, MaxLine-d.length))
	for n < len(p) && d.length+n < MaxLine+3 && p[n]&0xC0 == 0x80 {
		n++ // the rest of a character, which has at most 3 further bytes
	}
	d.out = append(d.out, p[:n]...)
	d.length += n
	if n < len(p) {
		d.out = append(d.out, cutMark...)
		d.cut = true
	}
}
