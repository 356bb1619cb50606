package logs

import (
	"bytes"
	"io"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/screen"
)

// Decoder takes stamps and marks off a log that is written to it in pieces of any size,
// and writes what the job printed, byte by byte, to the writer of each stream. Text that
// has no stamp is passed on as it is.
type Decoder struct {
	parser parser
	lines  [2]line // by Stream
	since  moment  // as time and as a stamp; zero for all lines
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
	redraw bool // the last byte was a carriage return
}

// NewDecoder makes a Decoder that writes to w. Of o it honours Since and
// Timestamps.
func NewDecoder(w screen.Streams, o Options) *Decoder {
	d := &Decoder{stamps: o.Timestamps, wanted: o.Since.IsZero()}
	if !o.Since.IsZero() {
		d.since = moment{o.Since.UTC().AppendFormat(nil, stampLayout), o.Since.Truncate(time.Microsecond)}
	}
	d.lines[screen.Stdout].w, d.lines[screen.Stderr].w = w.Out, w.Err
	d.to = &d.lines[screen.Stdout]
	return d
}

// Write decodes the next piece of the log.
func (d *Decoder) Write(p []byte) (int, error) {
	d.parser.parse(p, d)
	return len(p), d.flush()
}

// showAll ends the effect of Since.
func (d *Decoder) showAll() { d.since, d.wanted = moment{}, true }

// add decodes the next line, or piece of one. It is written by a later Write or flush.
func (d *Decoder) add(l Line) { d.parser.add(l, d) }

// buffered is how many bytes wait to be written.
func (d *Decoder) buffered() int { return len(d.out) }

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

// begin implements recordHandler.
func (d *Decoder) begin(m moment, s screen.Stream) {
	l := &d.lines[s]
	d.now = l
	if l != d.to {
		d.turnTo(l)
	}
	switch since := d.since.stamp; {
	case !m.at.IsZero():
		d.wanted = !m.at.Before(d.since.at)
	case m.stamp != nil:
		d.wanted = !m.isBegun() && (since == nil || bytes.Compare(m.stamp[:len(since)], since) >= 0)
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
	l.stamp = m.appendTo(l.stamp[:0])
	if l.keep {
		d.out = append(d.out, l.stamp...)
	}
}

// text implements recordHandler.
func (d *Decoder) text(b []byte) {
	l := d.now
	if !l.keep {
		b = l.redrawn(b, d.wanted)
	}
	switch {
	case !l.keep:
	case d.stamps && l.redraws(b):
		d.states(l, b)
	default:
		d.out = append(d.out, b...)
	}
}

// end implements recordHandler.
func (d *Decoder) end(piece bool) {
	if piece {
		return
	}
	if d.now.keep {
		d.out = append(d.out, '\n')
	}
	d.now.end()
}

func (l *line) end() { l.begun, l.redraw = false, false }

// redraws reports whether stamps have to be put after carriage returns too, where the
// terminal would overwrite the first one.
func (l *line) redraws(b []byte) bool { return l.redraw || bytes.IndexByte(b, '\r') >= 0 }

// redrawn finds where a line whose beginning is not shown is drawn again, and is shown
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

// states is text of a line that is drawn several times, with a stamp before each state.
func (d *Decoder) states(l *line, b []byte) {
	for len(b) > 0 {
		if l.redraw && b[0] != '\r' {
			d.out = append(d.out, l.stamp...)
		}
		end := bytes.IndexByte(b, '\r') + 1
		l.redraw = end > 0
		if end == 0 {
			end = len(b)
		}
		d.out = append(d.out, b[:end]...)
		b = b[end:]
	}
}
