package logs

import (
	"bytes"
	"fmt"
	"io"
)

// Lanes writes the logs of several hosts into one writer: whole lines, each with
// its host in front, and in the order in which each host printed them. A writer
// that is slow holds all hosts back; nothing is queued.
type Lanes struct {
	w       io.Writer
	turn    chan struct{} // holds one while a host writes
	options Options
}

// NewLanes makes Lanes that write to w. Of o they honour Since, Timestamps,
// Color and Chunks.
func NewLanes(w io.Writer, o Options) *Lanes {
	return &Lanes{w: w, turn: make(chan struct{}, 1), options: o}
}

// colors are those of hosts in turn. Black and white are left out: one of them is the
// background.
var colors = [...]int{36, 33, 32, 35, 34, 31}

// Host makes the lane of one host. Lanes may be written to at the same time.
func (l *Lanes) Host(n int) *Lane {
	kind := "host"
	if l.options.Chunks {
		kind = "chunk"
	}
	prefix := fmt.Sprintf("%s-%d │ ", kind, n)
	if l.options.Color {
		prefix = fmt.Sprintf("\x1b[%dm%s"+reset, colors[n%len(colors)], prefix)
	}
	return &Lane{NewDecoder(NewPlain(&prefixer{lanes: l, prefix: []byte(prefix)}), l.options)}
}

// write passes whole lines of one host on.
func (l *Lanes) write(lines []byte) error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	_, err := l.w.Write(lines)
	return err
}

// Lane takes the log of one host, with stamps. A line comes out when it ends, of a
// progress bar its last state: others write below it meanwhile. Next ends a line
// that has no end, so it stands behind the last attempt, too.
type Lane struct{ *Decoder }

// prefixer puts a host in front of each of the whole lines that it is given.
type prefixer struct {
	lanes  *Lanes
	prefix []byte
	out    []byte
}

// Write implements io.Writer.
func (p *prefixer) Write(b []byte) (int, error) {
	p.out = p.out[:0]
	for line := range bytes.Lines(b) {
		p.out = append(append(p.out, p.prefix...), line...)
	}
	return len(b), p.lanes.write(p.out)
}
