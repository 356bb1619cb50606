package display

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// View describes the device that shows a stream; the zero value suits a pipe.
type View struct {
	// Terminal reports whether it is a terminal, with a Screen in front of it.
	Terminal bool
	// Color reports whether it can show the hosts of several in colour.
	Color bool
	// Columns is the width of a terminal that can redraw an unfinished line of one of
	// several hosts. With 0, a line is only shown when it ends.
	Columns int
}

// Multiplexer merges the logs of several hosts: it writes whole lines, each prefixed with
// its host, and keeps the order of each host's lines. A slow writer holds up all hosts;
// nothing is queued.
type Multiplexer struct {
	w        Streams
	out, err View
	kind     string        // of what is merged: host or chunk
	turn     chan struct{} // holds one while a host writes

	// These need the turn:
	block      []byte        // to be written next
	unfinished int           // writers whose line is not finished, on a terminal
	shown      *prefixWriter // whose unfinished line the cursor is in; nil at the beginning of a line
}

// NewMultiplexer returns a Multiplexer that writes to w, which out and err describe. The
// prefixes call the hosts kind.
func NewMultiplexer(w Streams, kind string, out, err View) *Multiplexer {
	return &Multiplexer{w: w, out: out, err: err, kind: kind, turn: make(chan struct{}, 1)}
}

// colors are used by the hosts in turn. Black and white are left out: one of them is the
// background.
func colors() []int { return []int{36, 33, 32, 35, 34, 31} }

// Host returns the writers of one host. Those of different hosts may be used
// concurrently. A line is written when it ends; of a progress bar only the last state is
// written, since others write lines meanwhile. Until then, a terminal shows the
// unfinished line if there is no other. Lines of more than 1 MiB are cut.
func (m *Multiplexer) Host(n int) Streams {
	return Streams{Out: m.writer(n, m.w.Out, m.out), Err: m.writer(n, m.w.Err, m.err)}
}

func (m *Multiplexer) writer(host int, w io.Writer, v View) io.Writer {
	p := &prefixWriter{mux: m, w: w, view: v, prefix: m.prefix(host, v.Color)}
	p.plain = NewPlain(wholeLines{p})
	if v.Terminal {
		return newMergedCutter(NewStill(p))
	}
	return newMergedCutter(p)
}

func (m *Multiplexer) prefix(host int, color bool) []byte {
	prefix := fmt.Sprintf("%s-%d │ ", m.kind, host)
	if color {
		prefix = fmt.Sprintf("\x1b[%dm%s"+reset, colors()[host%len(colors())], prefix)
	}
	return []byte(prefix)
}

type prefixWriter struct {
	mux        *Multiplexer
	w          io.Writer
	view       View
	prefix     []byte
	plain      *Plain
	unfinished bool // whether its line is unfinished, as far as the multiplexer knows
}

func (p *prefixWriter) Write(b []byte) (int, error) {
	if n, err := p.plain.Write(b); err != nil || p.view.Columns == 0 {
		return n, err
	}
	return len(b), p.show()
}

type wholeLines struct{ *prefixWriter }

// Write prefixes each line with the host.
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

// makeRoom starts the output of a host when an unfinished line may be shown. It erases
// the host's own, which is drawn again, and leaves that of another host as it is.
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

// show makes a terminal show the unfinished line, if there is no other.
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

// appendRow appends as much of a text, which may have colours, as fits into the columns:
// a text that continues on the next row can't be redrawn.
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

// glyph returns the size in bytes of the character or colour at the beginning of a text,
// and the maximum number of columns that it takes.
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
