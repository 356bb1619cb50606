package logs

import (
	"bytes"
	"fmt"
	"io"
)

// Lanes writes the logs of several hosts as one: whole lines, each with its host in
// front, and in the order in which each host printed them. A writer that is slow holds
// all hosts back; nothing is queued.
type Lanes struct {
	w       Streams
	turn    chan struct{} // holds one while a host writes
	options Options
}

// NewLanes makes Lanes that write to w. Of o they honour Since, Timestamps,
// Color, ErrColor and Chunks.
func NewLanes(w Streams, o Options) *Lanes {
	return &Lanes{w: w, turn: make(chan struct{}, 1), options: o}
}

// colors are those of hosts in turn. Black and white are left out: one of them is the
// background.
var colors = [...]int{36, 33, 32, 35, 34, 31}

// Host makes the Decoder of the log of one host. Those of several may be written to at the
// same time. A line is written when it ends, of a progress bar its last state: others
// write below it meanwhile. Next ends the lines that have no end, so call it after the
// last attempt, too.
func (l *Lanes) Host(n int) *Decoder {
	prefixed := func(w io.Writer, color bool) io.Writer {
		return NewPlain(&prefixer{lanes: l, w: w, prefix: l.prefix(n, color)})
	}
	return NewDecoder(Streams{Out: prefixed(l.w.Out, l.options.Color), Err: prefixed(l.w.Err, l.options.ErrColor)}, l.options)
}

func (l *Lanes) prefix(host int, color bool) []byte {
	kind := "host"
	if l.options.Chunks {
		kind = "chunk"
	}
	prefix := fmt.Sprintf("%s-%d │ ", kind, host)
	if color {
		prefix = fmt.Sprintf("\x1b[%dm%s"+reset, colors[host%len(colors)], prefix)
	}
	return []byte(prefix)
}

// prefixer puts a host in front of each of the whole lines that it is given.
type prefixer struct {
	lanes  *Lanes
	w      io.Writer
	prefix []byte
	out    []byte
}

// Write implements io.Writer.
func (p *prefixer) Write(b []byte) (int, error) {
	p.out = p.out[:0]
	for line := range bytes.Lines(b) {
		p.out = append(append(p.out, p.prefix...), line...)
	}
	p.lanes.turn <- struct{}{}
	defer func() { <-p.lanes.turn }()
	_, err := p.w.Write(p.out)
	return len(b), err
}
