package screen

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// View is what a stream is read on; the zero value suits a pipe.
type View struct {
	// Terminal says that it is one, which a Screen stands in front of.
	Terminal bool
	// Color says that it can show the hosts of several in colour.
	Color bool
	// Columns is the width of a terminal where the unfinished line of one of several
	// hosts can be drawn again and again; 0 has it wait for its end.
	Columns int
}

// Multiplexer writes the logs of several hosts as one: whole lines, each with its host in
// front, and in the order in which each host printed them. A writer that is slow holds
// all hosts back; nothing is queued.
type Multiplexer struct {
	w        Streams
	out, err View
	kind     string        // of what is merged: host or chunk
	turn     chan struct{} // holds one while a host writes

	// With the turn:
	block      []byte        // what is written next
	unfinished int           // writers whose line is not finished, on a terminal
	shown      *prefixWriter // whose unfinished line the cursor is in; nil at the beginning of a line
}

// NewMultiplexer makes a Multiplexer that writes to w, which is read on out and err. kind
// is what the prefixes call the hosts.
func NewMultiplexer(w Streams, kind string, out, err View) *Multiplexer {
	return &Multiplexer{w: w, out: out, err: err, kind: kind, turn: make(chan struct{}, 1)}
}

// colors are those of hosts in turn. Black and white are left out: one of them is the
// background.
var colors = [...]int{36, 33, 32, 35, 34, 31}

// Host makes the writers of one host. Those of several may be written to at the same time.
// A line is written when it ends, of a progress bar its last state: others write below it
// meanwhile. Before, a terminal shows it as it stands if no other line is unfinished. A
// line of more than 1 MiB is cut.
func (m *Multiplexer) Host(n int) Streams {
	return Streams{Out: m.writer(n, m.w.Out, m.out), Err: m.writer(n, m.w.Err, m.err)}
}

func (m *Multiplexer) writer(host int, w io.Writer, v View) io.Writer {
	p := &prefixWriter{mux: m, w: w, view: v, prefix: m.prefix(host, v.Color)}
	p.plain = NewPlain(wholeLines{p})
	if v.Terminal {
		return newMergedCutter(newStill(p))
	}
	return newMergedCutter(p)
}

func (m *Multiplexer) prefix(host int, color bool) []byte {
	prefix := fmt.Sprintf("%s-%d │ ", m.kind, host)
	if color {
		prefix = fmt.Sprintf("\x1b[%dm%s"+reset, colors[host%len(colors)], prefix)
	}
	return []byte(prefix)
}

// prefixWriter is one stream of one host.
type prefixWriter struct {
	mux        *Multiplexer
	w          io.Writer
	view       View
	prefix     []byte
	plain      *Plain
	unfinished bool // its line, as far as the multiplexer knows
}

// Write implements io.Writer.
func (p *prefixWriter) Write(b []byte) (int, error) {
	if n, err := p.plain.Write(b); err != nil || p.view.Columns == 0 {
		return n, err
	}
	return len(b), p.show()
}

// wholeLines takes the whole lines of a prefixWriter.
type wholeLines struct{ *prefixWriter }

// Write puts the host in front of each of the lines.
func (p wholeLines) Write(b []byte) (int, error) {
	p.mux.turn <- struct{}{}
	defer func() { <-p.mux.turn }()
	if err := p.makeRoom(); err != nil {
		return 0, err
	}
	for line := range bytes.Lines(b) {
		p.mux.block = append(append(p.mux.block, p.prefix...), line...)
	}
	_, err := p.w.Write(p.mux.block)
	return len(b), err
}

// eraseLine goes to the beginning of a line and erases it.
const eraseLine = "\r\x1b[K"

// makeRoom begins what to write of a host, where an unfinished line may be shown: its own,
// which is drawn again, or that of another, which stays as it is.
func (p *prefixWriter) makeRoom() error {
	p.mux.block = p.mux.block[:0]
	shown := p.mux.shown
	if shown == nil || !p.view.Terminal {
		return nil
	}
	p.mux.shown = nil
	if shown == p {
		p.mux.block = append(p.mux.block, eraseLine...)
		return nil
	}
	_, err := shown.w.Write([]byte{'\n'})
	return err
}

// show has a terminal show the unfinished line, if there is no other.
func (p *prefixWriter) show() error {
	p.mux.turn <- struct{}{}
	defer func() { <-p.mux.turn }()
	state := p.plain.held
	if unfinished := len(state) > 0; unfinished != p.unfinished {
		p.unfinished = unfinished
		if unfinished {
			p.mux.unfinished++
		} else {
			p.mux.unfinished--
		}
	}
	if !p.unfinished || p.mux.unfinished > 1 {
		return nil
	}
	if err := p.makeRoom(); err != nil {
		return err
	}
	p.mux.block = appendRow(append(p.mux.block, p.prefix...), state, p.view.Columns-columnsOf(p.prefix))
	p.mux.shown = p
	_, err := p.w.Write(p.mux.block)
	return err
}

// appendRow appends as much of a text, which may have colours, as there are columns for:
// what continues in the next row can't be drawn again.
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
