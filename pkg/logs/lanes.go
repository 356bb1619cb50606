package logs

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Lanes writes the logs of several hosts as one: whole lines, each with its host in
// front, and in the order in which each host printed them. A writer that is slow holds
// all hosts back; nothing is queued.
type Lanes struct {
	w       Streams
	turn    chan struct{} // holds one while a host writes
	options Options

	// On a terminal, with the turn:
	unfinished int   // lanes whose line is not finished
	shown      *lane // whose unfinished line the cursor is in; nil at the beginning of a line
}

// NewLanes makes Lanes that write to w. Of o they honour Since, Timestamps, Out, Err and
// Chunks.
func NewLanes(w Streams, o Options) *Lanes {
	return &Lanes{w: w, turn: make(chan struct{}, 1), options: o}
}

// colors are those of hosts in turn. Black and white are left out: one of them is the
// background.
var colors = [...]int{36, 33, 32, 35, 34, 31}

// Host makes the Decoder of the log of one host. Those of several may be written to at the
// same time. A line is written when it ends, of a progress bar its last state: others
// write below it meanwhile. Before, a terminal shows it as it stands if no other line is
// unfinished. A line of more than 1 MiB is cut. Next ends the lines that have no end, so
// call it after the last attempt, too.
func (l *Lanes) Host(n int) *Decoder {
	return NewDecoder(Streams{Out: l.lane(n, l.w.Out, l.options.Out), Err: l.lane(n, l.w.Err, l.options.Err)}, l.options)
}

func (l *Lanes) lane(host int, w io.Writer, v View) io.Writer {
	lane := &lane{lanes: l, w: w, view: v, prefix: l.prefix(host, v.Color)}
	lane.plain = NewPlain(wholeLines{lane})
	if v.Terminal {
		return newLaneCutter(newStill(lane))
	}
	return newLaneCutter(lane)
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

// lane is one stream of one host.
type lane struct {
	lanes      *Lanes
	w          io.Writer
	view       View
	prefix     []byte
	plain      *Plain
	unfinished bool // its line, as far as the lanes know
	out        []byte
}

// Write implements io.Writer.
func (l *lane) Write(b []byte) (int, error) {
	if n, err := l.plain.Write(b); err != nil || l.view.Columns == 0 {
		return n, err
	}
	return len(b), l.show()
}

// wholeLines is the way of whole lines out of a lane.
type wholeLines struct{ *lane }

// Write puts the host in front of each of the lines.
func (l wholeLines) Write(b []byte) (int, error) {
	l.lanes.turn <- struct{}{}
	defer func() { <-l.lanes.turn }()
	if err := l.makeRoom(); err != nil {
		return 0, err
	}
	for line := range bytes.Lines(b) {
		l.out = append(append(l.out, l.prefix...), line...)
	}
	_, err := l.w.Write(l.out)
	return len(b), err
}

// eraseLine goes to the beginning of a line and erases it.
const eraseLine = "\r\x1b[K"

// makeRoom begins what to write of a lane, where an unfinished line may be shown: its own,
// which comes anew, or that of another, which stays as it is.
func (l *lane) makeRoom() error {
	l.out = l.out[:0]
	shown := l.lanes.shown
	if shown == nil || !l.view.Terminal {
		return nil
	}
	l.lanes.shown = nil
	if shown == l {
		l.out = append(l.out, eraseLine...)
		return nil
	}
	_, err := shown.w.Write([]byte{'\n'})
	return err
}

// show has a terminal show the unfinished line, if there is no other.
func (l *lane) show() error {
	l.lanes.turn <- struct{}{}
	defer func() { <-l.lanes.turn }()
	state := l.plain.held
	if unfinished := len(state) > 0; unfinished != l.unfinished {
		l.unfinished = unfinished
		if unfinished {
			l.lanes.unfinished++
		} else {
			l.lanes.unfinished--
		}
	}
	if !l.unfinished || l.lanes.unfinished > 1 {
		return nil
	}
	if err := l.makeRoom(); err != nil {
		return err
	}
	l.out = appendRow(append(l.out, l.prefix...), state, l.view.Columns-columnsOf(l.prefix))
	l.lanes.shown = l
	_, err := l.w.Write(l.out)
	return err
}

// appendRow appends as much of a text, which may have colours, as there are columns for:
// what goes on in the next row can't be drawn again.
func appendRow(row, text []byte, columns int) []byte {
	coloured := false
	for len(text) > 0 {
		size, width := glyph(text)
		if columns -= width; columns < 0 {
			break
		}
		coloured = coloured || text[0] == esc
		row, text = append(row, text[:size]...), text[size:]
	}
	if coloured {
		row = append(row, reset...)
	}
	return row
}

func columnsOf(text []byte) int {
	columns := 0
	for len(text) > 0 {
		size, width := glyph(text)
		columns += width
		text = text[size:]
	}
	return columns
}

// glyph is the size in bytes of the character or colour that a text begins with, and the
// columns that it takes at most.
func glyph(text []byte) (size, columns int) {
	if text[0] == esc {
		return bytes.IndexByte(text[1:], 'm') + 2, 0
	}
	r, size := utf8.DecodeRune(text)
	if r == '\t' {
		return size, 8
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth: // emoji, too
		return size, 2
	default:
		return size, 1
	}
}
