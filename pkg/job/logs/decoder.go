package logs

import (
	"bytes"
	"io"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// Decoder removes stamps and marks from a log, which is written to it in pieces of any size.
// It writes exactly the bytes that the job printed, those of each stream to the writer of that
// stream. Text without a stamp is written as it is.
type Decoder struct {
	parser parser
	lines  [2]line // by Stream
	since  moment  // as time and as a stamp; zero for all lines
	stamps bool    // whether to print stamps

	now    *line // the line of the current record
	wanted bool  // the current record is not older than since
	to     *line // the line that out is text of
	out    []byte
	err    error // of the writer
	begins func(attempt int)
}

type line struct {
	w      io.Writer
	begun  bool
	stamp  []byte
	keep   bool // the line is shown
	redraw bool // the last byte was a carriage return
}

// NewDecoder returns a Decoder that writes to w. It uses Since and Timestamps of o.
func NewDecoder(w display.Streams, o Options) *Decoder {
	d := &Decoder{stamps: o.Timestamps, wanted: o.Since.IsZero(), begins: func(int) {}}
	if !o.Since.IsZero() {
		d.since = moment{o.Since.UTC().AppendFormat(nil, StampLayout), o.Since.Truncate(time.Microsecond)}
	}
	d.lines[display.Stdout].w, d.lines[display.Stderr].w = w.Out, w.Err
	d.to = &d.lines[display.Stdout]
	return d
}

// Write decodes the next piece of the log.
func (d *Decoder) Write(p []byte) (int, error) {
	d.parser.parse(p, d)
	return len(p), d.flush()
}

// showAll shows everything from now on, as without Since.
func (d *Decoder) showAll() { d.since, d.wanted = moment{}, true }

// add decodes the next line, or the next piece of a line. A later call of Write or flush writes it.
func (d *Decoder) add(l Line) { d.parser.add(l, d) }

// buffered returns how many bytes are decoded and not written.
func (d *Decoder) buffered() int { return len(d.out) }

// Next ends the log of an attempt, after which that of the next one may come. It ends
// unfinished lines.
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

func (d *Decoder) flush() error {
	d.turnTo(d.to)
	err := d.err
	d.err = nil
	return err
}

func (d *Decoder) turnTo(l *line) {
	if len(d.out) > 0 && d.err == nil {
		_, d.err = d.to.w.Write(d.out)
	}
	d.out, d.to = d.out[:0], l
}

func (d *Decoder) begin(m moment, s display.Stream) {
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

// redraws reports whether b needs stamps after carriage returns too, because a terminal
// overwrites the first stamp.
func (l *line) redraws(b []byte) bool { return l.redraw || bytes.IndexByte(b, '\r') >= 0 }

// redrawn returns the part of b from which a line is shown whose beginning was not: from where it
// is redrawn, if it is wanted by then.
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

// states writes text of a line that is redrawn, with a stamp before each state.
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
